import type { Queryable } from "./database.ts";
import { statement } from "./database.ts";

export interface VersionKey {
  readonly organizationId: string;
  readonly versionId: string;
}

/** Which version of a workflow a job asks for. */
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
  /** Index into the requests. */
  readonly request: number;
  readonly workflowName: string;
  /** Null where the workflow exists but has no such version or tag. */
  readonly versionId: string | null;
  readonly versionNumber: number | null;
}

/**
 * What each request means at this instant. Runs inside the transaction that writes the jobs, so that a job runs the version that its
 * tag meant when the job was accepted. A request whose workflow does not exist gets no row.
 */
export async function chooseVersions(db: Queryable, requests: readonly VersionRequest[]): Promise<ChosenVersion[]> {
  if (requests.length === 0) return [];
  const rows = requests.map(({ organizationId, workflowId, choice }, request) => ({
    request,
    organization_id: organizationId,
    workflow_id: workflowId,
    tag: choice.by === "tag" ? choice.tag : null,
    version_id: choice.by === "versionId" ? choice.versionId : null,
    version_number: choice.by === "versionNumber" ? choice.versionNumber : null,
  }));
  const organizations = [...new Set(requests.map((request) => request.organizationId))];
  return await db.query(chooseVersionRows, [JSON.stringify(rows), organizations]);
}

const chooseVersionRows = statement<ChosenVersion>(
  "choose_versions",
  "organization",
  `SELECT wanted.request, workflow.name AS "workflowName", version.version_id AS "versionId",
     version.version_number AS "versionNumber"
   FROM json_to_recordset($1) AS wanted (request integer, organization_id uuid, workflow_id uuid, tag text, version_id uuid,
     version_number integer)
   JOIN workflow ON workflow.organization_id = wanted.organization_id AND workflow.workflow_id = wanted.workflow_id
   LEFT JOIN workflow_tag ON workflow_tag.organization_id = wanted.organization_id
     AND workflow_tag.workflow_id = wanted.workflow_id AND workflow_tag.tag = wanted.tag
   LEFT JOIN workflow_version AS version ON version.organization_id = wanted.organization_id
     AND version.workflow_id = wanted.workflow_id
     AND (version.version_id = COALESCE(wanted.version_id, workflow_tag.version_id) OR version.version_number = wanted.version_number)
   WHERE workflow.organization_id = ANY($2::uuid[]) AND workflow.deleted_at IS NULL`,
);

/** The definition texts of these versions, which never change. */
export async function loadDefinitions(
  db: Queryable,
  keys: readonly VersionKey[],
): Promise<{ versionId: string; definition: string }[]> {
  if (keys.length === 0) return [];
  return await db.query(loadDefinitionRows, [
    [...new Set(keys.map((key) => key.organizationId))],
    [...new Set(keys.map((key) => key.versionId))],
  ]);
}

const loadDefinitionRows = statement<{ versionId: string; definition: string }>(
  "load_definitions",
  "organization",
  `SELECT version_id AS "versionId", definition
   FROM workflow_version
   WHERE organization_id = ANY($1::uuid[]) AND version_id = ANY($2::uuid[])`,
);
