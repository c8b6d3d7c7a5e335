import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { toTime } from "../../core/time.ts";
import { type AuditSearch, type ListedAuditEntry, listAuditEntriesInOrder } from "../../store/audit/audit-list.ts";
import { whileRead } from "../door/answers/unread-pieces.ts";
import type { App, ServerParts } from "../door/app.ts";
import { isStillAllowed } from "../door/authorization.ts";
import { closed, OrganizationParams, oneOf } from "../door/schemas.ts";
import { auditFilters, auditSearchOf, renderAuditEntry } from "./audit-search.ts";
import { csvLine } from "./csv.ts";

interface ExportFormat {
  readonly mediaType: string;
  readonly head: string;
  readonly line: (entry: ListedAuditEntry) => string;
}

const columns: readonly (readonly [string, (entry: ListedAuditEntry) => string | number | null | undefined])[] = [
  ["entryId", ({ entryId }) => entryId],
  ["recordedAt", ({ recordedAt }) => toTime(recordedAt)],
  ["actorType", ({ actor }) => actor.type],
  ["actorId", ({ actor }) => actor.id],
  ["actorName", ({ actor }) => actor.name],
  ["action", ({ action }) => action],
  ["outcome", ({ outcome }) => outcome],
  ["targetType", ({ targetType }) => targetType],
  ["targetId", ({ targetId }) => targetId],
  ["requestId", ({ requestId }) => requestId],
  ["address", ({ address }) => address],
  ["details", ({ details }) => JSON.stringify(details)],
  ["sealNumber", ({ sealNumber }) => sealNumber],
];

const formats = {
  jsonl: {
    mediaType: "application/jsonl",
    head: "",
    line: (entry) => `${JSON.stringify(renderAuditEntry(entry))}\n`,
  },
  csv: {
    mediaType: "text/csv",
    head: csvLine(columns.map(([name]) => name)),
    line: (entry) => csvLine(columns.map(([, read]) => read(entry))),
  },
} as const satisfies Record<string, ExportFormat>;

const entriesAtOnce = 500;

export function auditExportRoutes(app: App, parts: ServerParts): void {
  app.get(
    "/organizations/:organizationId/audit/export",
    {
      config: { cost: 50 },
      schema: {
        operationId: "ExportAudit",
        "x-permission": "audit:read",
        tags: ["audit"],
        summary: "Export the audit trail",
        description:
          "The answer has all entries that the filters match, the oldest first, as JSON lines (each as in ListAudit) or as CSV. An answer that breaks off is not complete, so ask again. In CSV, a cell that a spreadsheet would take for a formula begins with an apostrophe.",
        params: OrganizationParams,
        querystring: closed({ format: Type.Optional(oneOf(["jsonl", "csv"], { default: "jsonl" })), ...auditFilters }),
        response: {
          200: {
            description: "The entries.",
            content: {
              [formats.jsonl.mediaType]: { schema: Type.Unsafe<Readable>({ type: "string" }) },
              [formats.csv.mediaType]: { schema: Type.Unsafe<Readable>({ type: "string" }) },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.params;
      const { format: name = "jsonl", ...filters } = request.query;
      const search = auditSearchOf(organizationId, filters);
      const format = formats[name];
      reply
        .type(`${format.mediaType}; charset=utf-8`)
        .header("content-disposition", `attachment; filename="audit-${organizationId}.${name}"`);
      // A page is fetched only when the previous page has been sent to the client. When the client is gone, no more pages are fetched.
      const lines = whileRead(linesOf(parts, request, search, format), reply, organizationId, parts);
      return reply.send(Readable.from(lines, { highWaterMark: 1 }));
    },
  );
}

async function* linesOf(
  parts: ServerParts,
  request: FastifyRequest,
  search: AuditSearch,
  format: ExportFormat,
): AsyncGenerator<string> {
  const { database, closing } = parts;
  if (format.head !== "") yield format.head;
  let entries: readonly ListedAuditEntry[] = [];
  do {
    const last = entries.at(-1)?.entryId ?? null;
    // An answer that has begun cannot become an error any more, so it is cut off.
    if (closing.aborted) throw new Error("The service stops.");
    if (!(await isStillAllowed(request, "audit:read", parts))) throw new Error("The token is no longer valid.");
    entries = await listAuditEntriesInOrder(database.reader(search.organizationId), search, last, entriesAtOnce);
    if (entries.length > 0) yield entries.map(format.line).join("");
  } while (entries.length === entriesAtOnce);
}
