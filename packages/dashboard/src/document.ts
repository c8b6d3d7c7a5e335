import type { components, operations } from "@stepwell/client";

/** The types that the API document defines, under its names. This module needs neither the network nor the session, so the modules in `texts` may use it. */
export type Schemas = components["schemas"];

/** The answer of an operation on success. */
export type Answer<Operation extends keyof operations, Status extends number = 200> = operations[Operation] extends {
  responses: { [Key in Status]: { content: { "application/json": infer Content } } };
}
  ? Content
  : never;

/** The filters of the audit trail, under the names that the API gives them. */
export type AuditFilters = Omit<NonNullable<operations["ListAudit"]["parameters"]["query"]>, "pageToken" | "pageSize">;
export type AuditTargetType = NonNullable<AuditFilters["targetType"]>;

export type OwnPermissions = Answer<"GetOwnPermissions">;
export type Permission = OwnPermissions["permissions"][number];
/** The permissions that a role or a token can hold. Permissions that apply outside of organizations are not among them. */
export type GrantablePermission = Exclude<Permission, "organization:create" | "account:manage" | "invitation:accept">;
