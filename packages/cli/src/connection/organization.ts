import type { Item, StepwellClient } from "@stepwell/client";
import { CommandError } from "../exit-code.ts";
import { isId } from "../id.ts";

type Organization = Item<"ListOrganizations">;

/** Returns the id of the organization with the name, key or id `wanted`. Without `wanted`, returns the id of the token's only organization. */
export async function organizationIdOf(client: StepwellClient, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined && isId(wanted)) return wanted.toLowerCase();
  const own = wanted === undefined ? (await client.whoAmI()).organizationId : undefined;
  if (own !== undefined) return own;
  const organizations = await client.list("ListOrganizations").toArray();
  const found = organizations.filter((organization) => wanted === undefined || isNamed(organization, wanted));
  const [chosen, ...others] = found;
  if (chosen !== undefined && others.length === 0) return chosen.organizationId;
  throw unclear(wanted, organizations, found);
}

export function isNamed({ name, key, organizationId }: Organization, wanted: string): boolean {
  return name === wanted || key === wanted || organizationId === wanted.toLowerCase();
}

/** Returns a line for each organization, for a person to choose from. Of a long list, only the beginning is shown. */
export function linesOf(organizations: readonly Organization[]): readonly string[] {
  const lines = organizations.slice(0, maxLines).map(({ organizationId, name }) => `  ${organizationId}  ${name}`);
  const more = organizations.length - lines.length;
  return more === 0 ? lines : [...lines, `  and ${more} more: \`stepwell org list --limit ${organizations.length}\``];
}

const maxLines = 100;

function unclear(
  wanted: string | undefined,
  organizations: readonly Organization[],
  found: readonly Organization[],
): CommandError {
  if (wanted === undefined && organizations.length === 0) {
    return new CommandError(
      "notFound",
      "You are not a member of any organization yet. `stepwell org create NAME` makes one.",
    );
  }
  if (wanted === undefined) {
    const how = "Name one with --organization NAME or, if no profile is in use, with STEPWELL_ORGANIZATION:";
    return new CommandError("usage", [`No organization is chosen. ${how}`, ...linesOf(organizations)].join("\n"));
  }
  if (found.length > 0) {
    const how = `Several organizations are named ${wanted}. Name one by its id:`;
    return new CommandError("usage", [how, ...linesOf(found)].join("\n"));
  }
  const others = organizations.length === 0 ? "" : ` Your organizations:`;
  const none = `None of your organizations is named ${wanted}.${others}`;
  return new CommandError("notFound", [none, ...linesOf(organizations)].join("\n"));
}
