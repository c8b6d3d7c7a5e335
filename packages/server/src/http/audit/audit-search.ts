import { type Static, Type } from "typebox";
import { ServiceError } from "../../core/service-error.ts";
import { parseTime, toTime } from "../../core/time.ts";
import { auditTargetTypes } from "../../management/act/audit-trail.ts";
import type { AuditSearch, ListedAuditEntry } from "../../store/audit/audit-list.ts";
import { ActorSchema, Id, oneOf, Time } from "../door/schemas.ts";

/** What the list and the export of the audit trail can be narrowed down by. */
export const auditFilters = {
  action: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "Only this operation, for example `CreateApiToken`." }),
  ),
  actorId: Type.Optional(Type.String({ format: "uuid", description: "Only what this user or API token did." })),
  targetType: Type.Optional(oneOf([...auditTargetTypes], { description: "Only changes of things of this kind." })),
  targetId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
      "x-rule": "must hold no control characters",
      description: "Only changes of this one: an id, or the name of a tag or role.",
    }),
  ),
  outcome: Type.Optional(oneOf(["accepted", "denied"])),
  after: Type.Optional(Type.String({ format: "date-time", description: "Only from this time on." })),
  before: Type.Optional(Type.String({ format: "date-time", description: "Only from before this time." })),
};

type AuditFilters = { readonly [Name in keyof typeof auditFilters]?: Static<(typeof auditFilters)[Name]> };

export function auditSearchOf(organizationId: string, filters: AuditFilters): AuditSearch {
  const after = filters.after === undefined ? null : parseTime("after", filters.after);
  const before = filters.before === undefined ? null : parseTime("before", filters.before);
  if (after !== null && before !== null && after >= before) {
    const detail = "must be later than after";
    throw new ServiceError("ValidationError", `before ${detail}.`, { problems: [{ pointer: "/before", detail }] });
  }
  return {
    organizationId,
    action: filters.action ?? null,
    actorId: filters.actorId?.toLowerCase() ?? null,
    targetType: filters.targetType ?? null,
    targetId: filters.targetId ?? null,
    outcome: filters.outcome ?? null,
    after,
    before,
  };
}

export const AuditEntrySchema = Type.Object(
  {
    entryId: Id,
    recordedAt: Time,
    actor: Type.Object({
      ...ActorSchema.properties,
      name: Type.Optional(Type.String({ description: "As it was then." })),
    }),
    action: Type.String({ description: "The operation." }),
    outcome: oneOf(["accepted", "denied"]),
    target: Type.Object({
      type: oneOf([...auditTargetTypes]),
      id: Type.Optional(Type.String({ description: "An id, or the name of a tag or role." })),
    }),
    requestId: Type.String({
      description: "As in the answer's header `x-request-id`; empty where no request was made.",
    }),
    address: Type.String({ description: "Where the request came from; empty when the client had gone by then." }),
    details: Type.Unsafe<object>({
      type: "object",
      additionalProperties: true,
      description:
        "What changed: fields of something new, `{field: {from, to}}` of a change, the reason of what was denied.",
    }),
    seal: Type.Optional(
      Type.Object(
        { number: Type.Integer({ minimum: 1 }) },
        { description: "The seal that covers the entry. Left out until there is one, some seconds later." },
      ),
    ),
  },
  { title: "AuditEntry" },
);

export function renderAuditEntry(entry: ListedAuditEntry): Static<typeof AuditEntrySchema> {
  const { entryId, actor, action, outcome, targetType, targetId, requestId, address, details, sealNumber } = entry;
  return {
    entryId,
    recordedAt: toTime(entry.recordedAt),
    actor,
    action,
    outcome,
    target: {
      type: targetType as Static<typeof AuditEntrySchema>["target"]["type"],
      ...(targetId !== null && { id: targetId }),
    },
    requestId,
    address,
    details,
    ...(sealNumber !== null && { seal: { number: sealNumber } }),
  };
}
