import type pg from "pg";
import { uuid, uuidOf } from "./numbered-id.ts";

/** The ids, names and numbers that identify one row in each table that `fillKeyedTables` fills. */
export interface RowKey {
  readonly organizationId: string;
  readonly jobId: string;
  readonly workflowId: string;
  readonly versionId: string;
  readonly idempotencyKey: string;
  readonly tokenId: string;
  readonly eventId: string;
  readonly eventNumber: number;
  readonly valueNumber: number;
  readonly branch: string;
  readonly step: string;
  readonly visit: number;
  readonly epoch: number;
}

/** The key of one row. Both numbers count from 1. A job with an even number is running, and a node holds its call; the other jobs have succeeded. */
export function rowKey(organization: number, number: number): RowKey {
  const id = uuid(number * maxOrganizations + organization);
  return {
    organizationId: uuid(organization),
    jobId: id,
    workflowId: id,
    versionId: id,
    idempotencyKey: id,
    tokenId: id,
    eventId: "event",
    eventNumber: 1,
    valueNumber: 1,
    branch: "",
    step: "charge",
    visit: 1,
    epoch: 1,
  };
}

/** With more organizations than this, the ids of rows would no longer differ. */
const maxOrganizations = 10_000;

/** The node that holds the call of every running job. */
export const ownerId = "00000000-0000-4000-8000-000000000001";
/** The user who is a member of every organization. */
export const memberId = "00000000-0000-4000-8000-000000000002";

export interface KeyedTables {
  readonly organizations: number;
  readonly rowsPerOrganization: number;
  readonly historyRowsPerJob: number;
}

/**
 * Fills each table that statements with many keys use, and runs ANALYZE for the planner. The caller has set `session_replication_role = replica` on
 * `client`, so foreign keys are not checked. The organizations get their rows in turn, and each new row has a greater id than the rows before it.
 */
export async function fillKeyedTables(client: pg.Client, tables: KeyedTables): Promise<void> {
  for (const [table, { columns, values, of, where = "true" }] of Object.entries(fillings(tables))) {
    const { rowsPerOrganization } = of === "organization" ? { rowsPerOrganization: 1 } : tables;
    await client.query(
      `INSERT INTO ${table} (organization_id, ${columns})
       SELECT ${uuidOf("o")}, ${values}
       FROM (SELECT i % ${tables.organizations} + 1 AS o, i / ${tables.organizations} + 1 AS n
         FROM generate_series(0, ${tables.organizations * rowsPerOrganization - 1}) AS i) AS row
       WHERE ${where}`,
    );
    await client.query(`VACUUM ANALYZE ${table}`);
  }
}

interface Filling {
  readonly columns: string;
  readonly values: string;
  readonly of?: "organization";
  readonly where?: string;
}

const rowId = uuidOf(`n::bigint * ${maxOrganizations} + o`);
const someTime = "'2026-01-01'::timestamptz";
const someone = `'{"type":"service","id":"test"}'`;
const runs = "n % 2 = 0";
/** The state of a job in its second step, some 300 bytes long. */
const someState = `json_build_object('status', 'RUNNING', 'step', json_build_object('name', 'charge', 'visit', 1, 'attempt', 1, 'phase', 'calling'),
  'progress', json_build_object('stepRunCount', 2, 'visits', json_build_object('reserve', 1, 'charge', 1), 'properties', json_build_object('sku', 'STEP-2',
  'reservationId', ${rowId}), 'bufferedEvents', json_build_object('approved', 1), 'eventCount', 1))`;
/** A value just large enough to be stored in a row of its own. */
const largeValue = `to_json(repeat(md5(n::text), 65))`;

function fillings({ historyRowsPerJob }: KeyedTables): Readonly<Record<string, Filling>> {
  return {
    organization: {
      of: "organization",
      columns: "name, display_name, created_at, updated_at",
      values: `'o' || o, 'o' || o, ${someTime}, ${someTime}`,
    },
    member: {
      of: "organization",
      columns: "user_id, roles, created_at",
      values: `'${memberId}', '{member}', ${someTime}`,
    },
    role: {
      of: "organization",
      columns: "name, description, permissions, created_at, updated_at",
      values: `'member', '', '{job:read}', ${someTime}, ${someTime}`,
    },
    job: {
      columns: `job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch, call_count, state, input,
        submitted_by, created_at, started_at, updated_at, finished_at`,
      values: `${rowId}, ${uuidOf("o")}, 'w', ${rowId}, 1, CASE WHEN ${runs} THEN 'RUNNING' ELSE 'SUCCEEDED' END, ${historyRowsPerJob}, 1,
        CASE WHEN ${runs} THEN 1 ELSE 0 END, CASE WHEN ${runs} THEN ${someState} ELSE '{"status":"SUCCEEDED"}' END,
        '{"sku":"STEP-2","count":1}', ${someone}, ${someTime}, ${someTime}, ${someTime}, CASE WHEN ${runs} THEN NULL ELSE ${someTime} END`,
    },
    job_call: {
      columns: "job_id, branch, version_id, step, visit, epoch, node_id, begun, ready_at",
      values: `${rowId}, '', ${rowId}, 'charge', 1, 1, '${ownerId}', false, ${someTime}`,
      where: runs,
    },
    job_history: {
      columns: "job_id, first_sequence, last_sequence, commit_id, committed_at, counted, entries",
      values: `${rowId}, generate_series(1, ${historyRowsPerJob}), generate_series(1, ${historyRowsPerJob}), ${rowId}, ${someTime}, true,
        json_build_array(json_build_object('sequence', 1, 'at', 1767225600000, 'type', 'step.started', 'step', 'reserve', 'visit', 1,
          'input', json_build_object('same', 'jobInput')))`,
    },
    job_value: { columns: "job_id, value_number, bytes, value", values: `${rowId}, 1, 2082, ${largeValue}` },
    job_event: {
      columns: "job_id, event_number, event_id, payload, outcome, sent_by, received_at",
      values: `${rowId}, 1, 'event', '{"approved":true}', 'unmatched', ${someone}, ${someTime}`,
    },
    idempotency_key: {
      columns: "idempotency_key, request_hash, claim_id, answer, created_at",
      values: `(${rowId})::text, decode(md5(n::text), 'hex'), ${rowId}, json_build_object('jobId', ${rowId}), ${someTime}`,
    },
    workflow: {
      columns: "workflow_id, name, created_by, created_at",
      values: `${rowId}, 'w' || n, ${someone}, ${someTime}`,
    },
    workflow_version: {
      columns: "version_id, workflow_id, version_number, definition, created_by, created_at",
      values: `${rowId}, ${rowId}, 1, '{}', ${someone}, ${someTime}`,
    },
    workflow_tag: {
      columns: "workflow_id, tag, version_id, version_number, updated_by, updated_at",
      values: `${rowId}, '$LIVE', ${rowId}, 1, ${someone}, ${someTime}`,
    },
    api_token: {
      columns: "token_id, name, permissions, token_hash, token_prefix, created_by, created_at, updated_at",
      values: `${rowId}, 't', '{}', decode(md5((o * 1000000 + n)::text), 'hex'), 't', ${someone}, ${someTime}, ${someTime}`,
    },
    audit_entry: {
      columns: "entry_id, recorded_at, actor, action, outcome, target_type, target_id, request_id, address, details",
      values: `${rowId}, ${someTime}, ${someone}, 'CancelJob', 'accepted', 'job', ${rowId}, ${rowId}, '::1', '{}'`,
    },
    invitation: {
      columns: "invitation_id, roles, link_hash, created_by, created_at, expires_at",
      values: `${rowId}, '{}', decode(md5((o * 1000000 + n)::text), 'hex'), ${someone}, ${someTime}, ${someTime}`,
    },
  };
}
