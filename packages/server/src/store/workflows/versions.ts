import type { Actor } from "../../core/actor.ts";
import type { Language } from "../../core/definition/language.ts";
import type { Timestamp } from "../../core/time.ts";
import { type Queryable, statement, type Transaction } from "../home/database.ts";
import { askInParts, askTogether, everyPairJoined } from "../home/key-parts.ts";
import type { WorkflowKey } from "./workflows.ts";

export interface VersionKey {
  readonly organizationId: string;
  readonly versionId: string;
}

/** Says which version of a workflow a job asks for. */
export type VersionChoice =
  | { readonly by: "tag"; readonly tag: string }
  | { readonly by: "versionId"; readonly versionId: string }
  | { readonly by: "versionNumber"; readonly versionNumber: number };

export interface VersionRequest {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly choice: VersionChoice;
}

export interface ChosenVersion {
  /** The index of the request. */
  readonly request: number;
  readonly workflowName: string;
  /** The version's id; null when the workflow exists but has no such version or tag. */
  readonly versionId: string | null;
  readonly versionNumber: number | null;
}

/**
 * Chooses the version for each request. It runs inside the transaction that writes the jobs, so that a job runs the version to which its tag pointed
 * when the job was accepted. A request whose workflow does not exist gets no row.
 */
export async function chooseVersions(
  transaction: Transaction,
  requests: readonly VersionRequest[],
): Promise<ChosenVersion[]> {
  // Most jobs of a batch ask for the same version of the same workflow.
  const alike = new Map<string, VersionRequest & { readonly places: number[] }>();
  for (const [place, request] of requests.entries()) {
    const { organizationId, workflowId, choice } = request;
    const name = JSON.stringify([organizationId, workflowId, choice]);
    const known = alike.get(name);
    if (known === undefined) alike.set(name, { ...request, places: [place] });
    else known.places.push(place);
  }
  const wanted = [...alike.values()].map((request, index) => ({ ...request, request: index }));
  const chosen = await askTogether(wanted, (part) => askForVersions(transaction, part), everyPairJoined);
  return chosen.flatMap((one) => (wanted[one.request]?.places ?? []).map((request) => ({ ...one, request })));
}

function askForVersions(
  transaction: Transaction,
  requests: readonly (VersionRequest & { readonly request: number })[],
): Promise<ChosenVersion[]> {
  const rows = requests.map(({ request, organizationId, workflowId, choice }) => ({
    request,
    organization_id: organizationId,
    workflow_id: workflowId,
    tag: choice.by === "tag" ? choice.tag : null,
    version_id: choice.by === "versionId" ? choice.versionId : null,
    version_number: choice.by === "versionNumber" ? choice.versionNumber : null,
  }));
  return transaction.query(chooseVersionRows, [
    JSON.stringify(rows),
    distinct(rows.map((row) => row.organization_id)),
    distinct(rows.map((row) => row.workflow_id)),
    distinct(rows.flatMap((row) => row.version_id ?? [])),
    distinct(rows.flatMap((row) => row.version_number ?? [])),
  ]);
}

/**
 * Selects versions of the wanted organization. The array names the shard, and finds the row in the index. The other comparison is not `=`: with `=`,
 * the planner's estimate would count the organization twice. An index that has only the organization would seem as good as the key, but reads
 * 94 pages for each row instead of 8. For the same reason, `by_id` compares the workflow without `=`. Tags have only one index, so the planner cannot
 * choose a wrong one, and `=` finds each row with a single look-up.
 */
const isOfWanted = (table: string) =>
  `${table}.organization_id = ANY($2::uuid[]) AND ${table}.organization_id IS NOT DISTINCT FROM wanted.organization_id`;

const chooseVersionRows = statement<ChosenVersion>(
  "choose_versions",
  "organization",
  `SELECT wanted.request, workflow.name AS "workflowName",
     COALESCE(workflow_tag.version_id, by_id.version_id, by_number.version_id) AS "versionId",
     COALESCE(workflow_tag.version_number, by_id.version_number, by_number.version_number) AS "versionNumber"
   FROM json_to_recordset($1) AS wanted (request integer, organization_id uuid, workflow_id uuid, tag text, version_id uuid,
     version_number integer)
   JOIN workflow ON workflow.organization_id = wanted.organization_id AND workflow.workflow_id = wanted.workflow_id
   LEFT JOIN workflow_tag ON workflow_tag.organization_id = ANY($2::uuid[]) AND workflow_tag.organization_id = wanted.organization_id
     AND workflow_tag.workflow_id = wanted.workflow_id AND workflow_tag.tag = wanted.tag
     AND workflow_tag.workflow_id = ANY($3::uuid[])
   LEFT JOIN workflow_version AS by_id ON ${isOfWanted("by_id")}
     AND by_id.workflow_id IS NOT DISTINCT FROM wanted.workflow_id AND by_id.version_id = wanted.version_id AND by_id.version_id = ANY($4::uuid[])
   LEFT JOIN workflow_version AS by_number ON ${isOfWanted("by_number")}
     AND by_number.workflow_id = wanted.workflow_id AND by_number.version_number = wanted.version_number
     AND by_number.version_number = ANY($5::integer[])
   WHERE workflow.organization_id = ANY($2::uuid[]) AND workflow.workflow_id = ANY($3::uuid[]) AND workflow.deleted_at IS NULL`,
);

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}

export interface LoadedDefinition {
  readonly versionId: string;
  readonly definition: string;
  readonly language: Language;
}

/** Loads the definition texts of these versions, which never change. */
export async function loadDefinitions(db: Queryable, keys: readonly VersionKey[]): Promise<LoadedDefinition[]> {
  if (keys.length === 0) return [];
  return await askInParts(keys, (part) =>
    db.query(loadDefinitionRows, [
      [...new Set(part.map((key) => key.organizationId))],
      [...new Set(part.map((key) => key.versionId))],
    ]),
  );
}

const loadDefinitionRows = statement<LoadedDefinition>(
  "load_definitions",
  "organization",
  `SELECT version_id AS "versionId", definition, language
   FROM workflow_version
   WHERE organization_id = ANY($1::uuid[]) AND version_id = ANY($2::uuid[])`,
);

export interface Version {
  readonly versionId: string;
  readonly workflowId: string;
  readonly versionNumber: number;
  readonly createdBy: Actor;
  readonly createdAt: Timestamp;
}

export interface WholeVersion extends Version {
  /** The definition exactly as it was sent. */
  readonly definition: string;
}

/** Inserts a new version and returns its number. The caller holds the workflow's lock (`lockWorkflow`), so that numbers count from 1 without gaps. */
export async function insertVersion(
  transaction: Transaction,
  organizationId: string,
  version: Omit<WholeVersion, "versionNumber"> & { readonly language: Language },
): Promise<number> {
  const [row] = await transaction.query(insertVersionRow, [
    organizationId,
    version.versionId,
    version.workflowId,
    version.definition,
    JSON.stringify(version.createdBy),
    new Date(version.createdAt).toISOString(),
    version.language,
  ]);
  if (row === undefined) throw new Error("The new version was not written.");
  return row.versionNumber;
}

const insertVersionRow = statement<{ versionNumber: number }>(
  "insert_version",
  "organization",
  `INSERT INTO workflow_version (organization_id, version_id, workflow_id, version_number, definition, created_by, created_at, language)
   SELECT workflow.organization_id, $2::uuid, workflow.workflow_id, COALESCE(max(earlier.version_number), 0) + 1, $4::text, $5::json,
     $6::timestamptz, $7::integer
   FROM workflow
   LEFT JOIN workflow_version AS earlier ON earlier.organization_id = workflow.organization_id
     AND earlier.workflow_id = workflow.workflow_id
   WHERE workflow.organization_id = $1 AND workflow.workflow_id = $3
   GROUP BY workflow.organization_id, workflow.workflow_id
   RETURNING version_number AS "versionNumber"`,
);

/** Lists versions, newest first, without their definitions: two hundred definitions may have a hundred megabytes. */
export async function listVersions(
  db: Queryable,
  workflow: WorkflowKey,
  beforeVersionNumber: number | null,
  limit: number,
): Promise<Version[]> {
  return await db.query(listVersionRows, [workflow.organizationId, workflow.workflowId, beforeVersionNumber, limit]);
}

const versionColumns = `
  version_id AS "versionId", workflow_id AS "workflowId", version_number AS "versionNumber", created_by AS "createdBy",
  created_at AS "createdAt"`;

const listVersionRows = statement<Version>(
  "list_versions",
  "organization",
  `SELECT ${versionColumns}
   FROM workflow_version
   WHERE organization_id = $1 AND workflow_id = $2 AND ($3::integer IS NULL OR version_number < $3)
   ORDER BY version_number DESC
   LIMIT $4`,
  "each-time",
);

/** Finds a version, if it belongs to this workflow. */
export async function findVersion(
  db: Queryable,
  workflow: WorkflowKey,
  versionId: string,
): Promise<WholeVersion | undefined> {
  const [row] = await db.query(findVersionRow, [workflow.organizationId, workflow.workflowId, versionId]);
  return row;
}

const findVersionRow = statement<WholeVersion>(
  "find_version",
  "organization",
  `SELECT ${versionColumns}, definition
   FROM workflow_version
   WHERE organization_id = $1 AND workflow_id = $2 AND version_id = $3`,
);

/** Finds the version that was registered last; undefined when the workflow has none. */
export async function findNewestVersion(db: Queryable, workflow: WorkflowKey): Promise<WholeVersion | undefined> {
  const [row] = await db.query(findNewestVersionRow, [workflow.organizationId, workflow.workflowId]);
  return row;
}

const findNewestVersionRow = statement<WholeVersion>(
  "find_newest_version",
  "organization",
  `SELECT ${versionColumns}, definition
   FROM workflow_version
   WHERE organization_id = $1 AND workflow_id = $2
   ORDER BY version_number DESC
   LIMIT 1`,
);

/** Finds the newest version with this text. Only the last hundred versions of a workflow are searched. */
export async function findVersionWithText(
  db: Queryable,
  { organizationId, workflowId }: WorkflowKey,
  definition: string,
): Promise<Version | undefined> {
  const [row] = await db.query(findVersionRowWithText, [organizationId, workflowId, definition]);
  return row;
}

const findVersionRowWithText = statement<Version>(
  "find_version_with_text",
  "organization",
  `SELECT ${versionColumns}
   FROM (
     SELECT * FROM workflow_version WHERE organization_id = $1 AND workflow_id = $2 ORDER BY version_number DESC LIMIT 100
   ) AS newest
   WHERE definition = $3
   ORDER BY version_number DESC
   LIMIT 1`,
);

/**
 * Counts the versions of a workflow. When no workflow is given, counts those of the workflow with the most versions. Numbers count from 1 without
 * gaps, so the highest number is the count.
 */
export async function countVersions(
  db: Queryable,
  organizationId: string,
  workflowId: string | undefined,
): Promise<number> {
  const [row] = await db.query(countVersionRows, [organizationId, workflowId ?? null]);
  return row?.versionCount ?? 0;
}

const countVersionRows = statement<{ versionCount: number }>(
  "count_versions",
  "organization",
  `SELECT coalesce(max(workflow_version.version_number), 0) AS "versionCount"
   FROM workflow_version
   JOIN workflow ON workflow.organization_id = workflow_version.organization_id
     AND workflow.workflow_id = workflow_version.workflow_id
   WHERE workflow_version.organization_id = $1 AND workflow.organization_id = $1 AND workflow.deleted_at IS NULL
     AND ($2::uuid IS NULL OR workflow_version.workflow_id = $2)`,
  "each-time",
);

/** Finds the number of a version of this workflow; undefined when it has no such version. */
export async function findVersionNumber(
  db: Queryable,
  workflow: WorkflowKey,
  versionId: string,
): Promise<number | undefined> {
  const [row] = await db.query(findVersionNumberRow, [workflow.organizationId, workflow.workflowId, versionId]);
  return row?.versionNumber;
}

const findVersionNumberRow = statement<{ versionNumber: number }>(
  "find_version_number",
  "organization",
  `SELECT version_number AS "versionNumber"
   FROM workflow_version
   WHERE organization_id = $1 AND workflow_id = $2 AND version_id = $3`,
);
