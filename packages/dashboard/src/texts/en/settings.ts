import { countOf } from "../plural.ts";

export const settings = {
  title: "Settings",
  navigation: "Settings of the organization",
  apiTokens: "API tokens",
  members: "Members",
  invitations: "Invitations",
  roles: "Roles",
  oauthClients: "Applications",
  signInProviders: "Sign-in",
  audit: "Audit trail",
  limits: "Limits",
  actions: "Actions",
} as const;

export const permitted = {
  title: "Your roles do not let you see this",
  text: (permission: string, roles: readonly string[]) =>
    `This needs the permission ${permission}. You have ${
      roles.length === 0 ? "no role" : `the ${roles.length === 1 ? "role" : "roles"} ${roles.join(", ")}`
    } here. An owner can give you a role that has this permission.`,
} as const;

export const secret = {
  once: "This is shown only once, and stored nowhere. Copy it now.",
  notCopied: "You have not copied it. Once this is closed, nobody can see it again.",
  closeAnyway: "Close without copying",
  done: "Done",
} as const;

export const expiry = {
  label: "Expires",
  hint: "The default is 90 days, so that a forgotten secret stops working by itself.",
  never: "never",
  expired: "expired",
  neverChoice: "Never",
  kept: (date: string | undefined) => `Unchanged: ${date ?? "never"}`,
  inDays: (days: number) => (days === 365 ? "In a year" : `In ${countOf(days, "day", "days")}`),
} as const;

export const picker = {
  legend: "Permissions",
  onlyHeld: "You can grant only permissions that you have yourself; the others are not shown.",
  all: (group: string) => `All of ${group}`,
  chosen: (count: number) => `${countOf(count, "permission", "permissions")} chosen`,
} as const;
