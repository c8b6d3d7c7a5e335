import type { GrantablePermission } from "../../document.ts";

/** The permissions with their meanings, in the order in which the permissions are offered. */
export const permissions: Readonly<Record<GrantablePermission, string>> = {
  "organization:read": "See the organization",
  "organization:update": "Rename the organization, require a second factor",
  "organization:delete": "Delete the organization",
  "workflow:create": "Register workflows",
  "workflow:read": "See workflows and tags",
  "workflow:delete": "Delete workflows",
  "workflow:version:create": "Register versions and move tags",
  "workflow:version:read": "See definitions",
  "job:submit": "Submit and resume jobs",
  "job:read": "See a job with its input and output",
  "job:list": "List and find jobs",
  "job:cancel": "Cancel jobs",
  "job:event:send": "Send events to jobs",
  "task:work": "Work on tasks: take them from queues and answer them",
  "task-queue:read": "See task queues",
  "task-queue:update": "Pause and resume task queues",
  "metrics:read": "See metrics",
  "apitoken:create": "Create API tokens",
  "apitoken:read": "See API tokens, never their secrets",
  "apitoken:update": "Change and rotate API tokens",
  "apitoken:revoke": "Revoke API tokens",
  "member:read": "See members",
  "member:update": "Change members' roles and reset passwords",
  "member:remove": "Remove members",
  "invitation:create": "Invite people",
  "invitation:read": "See invitations",
  "invitation:revoke": "Revoke invitations",
  "role:create": "Create roles",
  "role:read": "See roles",
  "role:update": "Change roles",
  "role:delete": "Delete roles",
  "oauthclient:create": "Create applications to which members sign in",
  "oauthclient:list": "See applications",
  "oauthclient:delete": "Delete applications",
  "audit:read": "Read the audit trail",
};

/** The groups, by the first word of the permission. The type requires every group, since a permission without a group would not be offered. */
export const permissionGroups = {
  organization: "Organization",
  workflow: "Workflows",
  job: "Jobs",
  task: "Tasks",
  "task-queue": "Task queues",
  metrics: "Metrics",
  apitoken: "API tokens",
  member: "Members",
  invitation: "Invitations",
  role: "Roles",
  oauthclient: "Applications",
  audit: "Audit trail",
} as const satisfies Readonly<Record<GroupOf<GrantablePermission>, string>>;

type GroupOf<Permission> = Permission extends `${infer Group}:${string}` ? Group : never;
