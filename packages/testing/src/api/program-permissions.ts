/** The permissions of a program that deploys workflows, submits jobs and follows them. */
export const programPermissions = [
  "organization:read",
  "workflow:create",
  "workflow:read",
  "workflow:version:create",
  "workflow:version:read",
  "job:submit",
  "job:read",
  "job:list",
  "job:cancel",
  "job:event:send",
] as const;
