import { type Static, Type } from "typebox";
import { type AuditFinding, describeFinding, type SealLink } from "../../core/audit-chain.ts";
import { type AuditVerification, expectSeal, verifyAudit } from "../../engine/audit/audit-verification.ts";
import { listAuditEntries } from "../../store/audit/audit-list.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { closed, Id, OrganizationParams, oneOf } from "../door/schemas.ts";
import { AuditEntrySchema, auditFilters, auditSearchOf, renderAuditEntry } from "./audit-search.ts";

const findingKinds = [
  "entry-changed",
  "entry-missing",
  "entry-inserted",
  "entry-listed-twice",
  "seal-changed",
  "seal-missing",
  "seal-unlinked",
  "seal-unexpected",
] as const;

const FindingSchema = Type.Object(
  {
    kind: oneOf([...findingKinds]),
    entryId: Type.Optional(Id),
    sealNumber: Type.Optional(Type.Integer()),
    detail: Type.String({ description: "The finding as a sentence." }),
  },
  { title: "AuditFinding" },
);

const VerificationSchema = Type.Object(
  {
    isIntact: Type.Boolean(),
    checkedEntries: Type.Integer({ description: "The number of entries that the seals cover." }),
    checkedSeals: Type.Integer(),
    unsealedEntries: Type.Integer({
      description: "The number of entries that wait for a seal and cannot be checked yet.",
    }),
    newestSeal: Type.Optional(Type.Object({ number: Type.Integer(), hash: Type.String() })),
    findings: Type.Array(FindingSchema, { description: "The findings, at most the first hundred." }),
  },
  { title: "AuditVerification", description: "The result of the verification." },
);

export function auditRoutes(app: App, parts: ServerParts): void {
  listAuditRoute(app, parts);
  verifyAuditRoute(app, parts);
}

function listAuditRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    "/organizations/:organizationId/audit",
    {
      config: { cost: 5 },
      schema: {
        operationId: "ListAudit",
        "x-permission": "audit:read",
        tags: ["audit"],
        summary: "List the audit trail",
        description:
          "The answer lists the entries, the newest first. They say who changed what, and which requests were denied. The history of a job says what the job did and who submitted it.",
        params: OrganizationParams,
        querystring: closed({ ...auditFilters, ...pagingParameters }),
        response: {
          200: Type.Object({ entries: Type.Array(AuditEntrySchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const page = pageOf(request);
      const search = auditSearchOf(request.params.organizationId, request.query);
      const found = await listAuditEntries(database.reader(search.organizationId), search, page.after, page.limit);
      const { rows, ...next } = page.cut(found, (entry) => entry.entryId);
      return { entries: rows.map(renderAuditEntry), ...next };
    },
  );
}

function verifyAuditRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  const verify = sharedVerification(parts);
  app.get(
    "/organizations/:organizationId/audit/verification",
    {
      config: { cost: 50 },
      schema: {
        operationId: "VerifyAudit",
        "x-permission": "audit:read",
        tags: ["audit"],
        summary: "Verify the audit trail",
        description:
          "The service compares every sealed entry with its seal, and every seal with the one before it. Keep `newestSeal` somewhere else and send it as `expect` the next time. Without `expect`, the service cannot find out whether the newest entries were removed together with their seals.",
        params: OrganizationParams,
        querystring: closed({
          expect: Type.Optional(
            Type.String({
              pattern: "^[1-9][0-9]{0,8}:[0-9a-f]{64}$",
              "x-rule": "must be a seal's number and its hash, as `NUMBER:HASH`",
              description: "A seal that the trail must contain, written as `NUMBER:HASH`.",
            }),
          ),
        }),
        response: {
          200: VerificationSchema,
        },
      },
    },
    async (request) => {
      const { organizationId } = request.params;
      const { expect } = request.query;
      const verified = await verify(organizationId);
      const held =
        expect === undefined
          ? verified
          : await expectSeal({ database, organizationId }, verified, parseSealLink(expect));
      const { newestSeal, findings, ...found } = held;
      return {
        ...found,
        ...(newestSeal !== null && { newestSeal }),
        findings: findings.map((finding) => renderFinding(finding)),
      };
    },
  );
}

/**
 * Returns a function that runs at most one verification of an organization's trail at a time: a caller that asks in the meantime gets the result of
 * the run under way.
 */
function sharedVerification({
  database,
  secrets,
}: ServerParts): (organizationId: string) => Promise<AuditVerification> {
  const underWay = new Map<string, Promise<AuditVerification>>();
  return (organizationId) => {
    let running = underWay.get(organizationId);
    if (running === undefined) {
      running = verifyAudit({ database, keys: secrets.keysFor("audit"), organizationId });
      const forget = () => underWay.delete(organizationId);
      running.then(forget, forget);
      underWay.set(organizationId, running);
    }
    return running;
  };
}

function parseSealLink(text: string): SealLink {
  const [number = "", hash = ""] = text.split(":");
  return { number: Number(number), hash };
}

function renderFinding(finding: AuditFinding): Static<typeof FindingSchema> {
  const { kind } = finding;
  const rendered: Static<typeof FindingSchema> = { kind, detail: describeFinding(finding) };
  if ("entryId" in finding) rendered.entryId = finding.entryId;
  if ("sealNumber" in finding && finding.sealNumber !== null) rendered.sealNumber = finding.sealNumber;
  return rendered;
}
