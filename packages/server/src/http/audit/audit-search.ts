import { type Static, Type } from "typebox";
import { ServiceError } from "../../core/service-error.ts";
import { parseTime, toTime } from "../../core/time.ts";
import { auditTargetTypes } from "../../management/act/audit-trail.ts";
import type { AuditSearch, ListedAuditEntry } from "../../store/audit/audit-list.ts";
import { ActorSchema, Id, oneOf, Time } from "../door/schemas.ts";

/** The filters of the list and the export of the audit trail. */
export const auditFilters = {
  action: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "An operation, for example `CreateApiToken`, to get only its entries.",
    }),
  ),
  actorId: Type.Optional(
    Type.String({ format: "uuid", description: "The id of a user or API token, to get only what it did." }),
  ),
  targetType: Type.Optional(
    oneOf([...auditTargetTypes], { description: "A kind of thing, to get only entries about such things." }),
  ),
  targetId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
      "x-rule": "must not contain control characters",
      description: "The id of a thing, or the name of a tag, a role or a task queue, to get only entries about it.",
    }),
  ),
  outcome: Type.Optional(oneOf(["accepted", "denied"])),
  after: Type.Optional(Type.String({ format: "date-time", description: "A time, to get only entries from then on." })),
  before: Type.Optional(
    Type.String({ format: "date-time", description: "A time, to get only entries from before it." }),
  ),
};

type AuditFilters = { readonly [Name in keyof typeof auditFilters]?: Static<(typeof auditFilters)[Name]> };

export function auditSearchOf(organizationId: string, filters: AuditFilters): AuditSearch {
  const after = filters.after === undefined ? null : parseTime("after", filters.after);
  const before = filters.before === undefined ? null : parseTime("before", filters.before);
  if (after !== null && before !== null && after >= before) {
    const detail = "must be later than `after`";
    throw new ServiceError("ValidationError", `\`before\` ${detail}.`, { problems: [{ pointer: "/before", detail }] });
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
      name: Type.Optional(Type.String({ description: "The name that the actor had at the time of the entry." })),
    }),
    action: Type.String({ description: "The name of the operation." }),
    outcome: oneOf(["accepted", "denied"]),
    target: Type.Object({
      type: oneOf([...auditTargetTypes]),
      id: Type.Optional(
        Type.String({ description: "The id of the thing, or the name of a tag, a role or a task queue." }),
      ),
    }),
    requestId: Type.String({
      description:
        "The id of the request, as in the answer's header `X-Request-Id`. It is empty where there was no request.",
    }),
    address: Type.String({
      description:
        "The network address from which the request came. It is empty where there was no request, and when the client had already disconnected.",
    }),
    details: Type.Unsafe<object>({
      type: "object",
      additionalProperties: true,
      description:
        "The details of the change: the fields of something new, `{field: {from, to}}` for something changed, or the reason why the request was denied.",
    }),
    seal: Type.Optional(
      Type.Object(
        { number: Type.Integer({ minimum: 1 }) },
        {
          description: "The seal that covers the entry. It is left out until the entry is sealed, some seconds later.",
        },
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
