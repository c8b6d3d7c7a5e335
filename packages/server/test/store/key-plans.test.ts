import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Job } from "../../src/core/job/job-state.ts";
import { deleteInvitationsExpiredBefore } from "../../src/store/access/invitations.ts";
import type { Database, Statement } from "../../src/store/home/database.ts";
import { findKeptEvents, readPayloads, writeEventChanges } from "../../src/store/jobs/events.ts";
import { deleteExpiredKeys, releaseKeys, storeAnswers } from "../../src/store/jobs/idempotency.ts";
import { readValues } from "../../src/store/jobs/job-values.ts";
import {
  lockJobs,
  readInputs,
  readSmallJobs,
  readStandings,
  updateJobs,
  type WrittenJob,
} from "../../src/store/jobs/jobs.ts";
import { markBegun, takeOverJobs } from "../../src/store/jobs/nodes.ts";
import { loadDefinitions } from "../../src/store/workflows/versions.ts";
import { type Asked, costOf, openRowsOnly, planModes, type RowsOnly, uuid, uuidOf } from "./plan-cost.ts";

/**
 * A statement that names its rows by two arrays alone, one of organizations and one of ids, means every pair of them: a batch of 400
 * jobs of as many organizations would be 160,000 look-ups, or a scan of the table. Both homes of the store plan alike, so one is enough.
 */
const organizationCount = 400;
const rowsPerOrganization = 100;
/** Pages that a row may cost: the way down an index, the row itself, and what writing it takes. */
const maxPagesPerRow = 60;
/** Rows of one table that are held against each row of another and do not fit. */
const maxMissesPerRow = 20;

let rows: RowsOnly;

beforeAll(async () => {
  rows = await openRowsOnly();
  const { client } = rows;
  for (const [table, columns, values] of fillings) {
    await client.query(
      `INSERT INTO ${table} (organization_id, ${columns})
       SELECT ${uuidOf("o")}, ${values}
       FROM generate_series(1, ${organizationCount}) AS o, generate_series(1, ${rowsPerOrganization}) AS n`,
    );
    await client.query(`VACUUM ANALYZE ${table}`);
  }
}, 120_000);

afterAll(() => rows.close());

const keys = Array.from({ length: organizationCount }, (_, index) => {
  const organization = index + 1;
  const organizationId = uuid(organization);
  const id = uuid(((organization % rowsPerOrganization) + 1) * 1_000 + organization);
  return {
    organizationId,
    jobId: id,
    versionId: id,
    idempotencyKey: id,
    eventId: "event",
    valueNumber: 1,
    eventNumber: 1,
    leaseEpoch: 1,
  };
});
/** Owns every job. */
const nodeId = randomUUID();
const at = Date.parse("2026-01-31T12:00:00Z");

type Ask = (db: Database) => Promise<unknown>;

test.each<[string, Ask]>([
  ["lock_jobs", (db) => lockJobs(db, keys, 1_000_000)],
  ["read_job_inputs", (db) => readInputs(db, keys, 1_000_000)],
  ["read_job_values", (db) => readValues(db, keys, 1_000_000)],
  [
    "update_jobs",
    (db) =>
      updateJobs(
        db,
        keys.map((key) => ({ before: jobOf(key), after: writtenOf(key) })),
      ),
  ],
  ["read_small_jobs", (db) => readSmallJobs(db, keys)],
  ["read_job_standings", (db) => readStandings(db, keys)],
  ["take_over_jobs", (db) => takeOverJobs(db, nodeId, nodeId, keys)],
  ["mark_calls_begun", (db) => markBegun(db, nodeId, keys)],
  ["find_kept_events", (db) => findKeptEvents(db, keys)],
  ["read_event_payloads", (db) => readPayloads(db, keys, 1_000_000)],
  [
    "count_duplicate_events",
    (db) =>
      writeEventChanges(
        db,
        keys.map((key) => ({ ...key, changes: [{ type: "repeated", eventNumber: 1, at }] })),
      ),
  ],
  [
    "consume_job_events",
    (db) =>
      writeEventChanges(
        db,
        keys.map((key) => ({ ...key, changes: [{ type: "consumed", eventNumber: 1, step: "wait", visit: 1, at }] })),
      ),
  ],
  [
    "store_idempotent_answers",
    (db) =>
      storeAnswers(
        db,
        keys.map((key) => ({ ...key, answer: {} })),
      ),
  ],
  ["release_idempotency_keys", (db) => releaseKeys(db, keys)],
  ["delete_expired_idempotency_keys", (db) => deleteExpiredKeys(db, at, organizationCount)],
  ["load_definitions", (db) => loadDefinitions(db, keys)],
  ["delete_invitations", (db) => deleteInvitationsExpiredBefore(db, at, organizationCount)],
])("%s finds 400 rows of 400 organizations by their keys", async (name, ask) => {
  const asked = await askedFor(name, ask);
  for (const mode of planModes) {
    let pages = 0;
    let misses = 0;
    for (const one of asked) {
      const cost = await costOf(rows.client, one, mode);
      expect({ mode, scanned: cost.scanned }).toEqual({ mode, scanned: [] });
      pages += cost.pages;
      misses += cost.misses;
    }
    expect(pages, mode).toBeLessThan(organizationCount * maxPagesPerRow);
    expect(misses, mode).toBeLessThan(organizationCount * maxMissesPerRow);
  }
});

/** The statements of that name with their values, as the store's own function sends them. */
async function askedFor(name: string, ask: Ask): Promise<readonly Asked[]> {
  const found: Asked[] = [];
  const query = async (statement: Statement<unknown>, values: readonly unknown[]) => {
    if (statement.name === name) found.push({ statement, values });
    // Every row that is named is there: large jobs, and what is past its time.
    const named = JSON.stringify(values);
    const isSearch = statement.scope === "maintenance";
    return keys
      .filter((key) => isSearch || named.includes(key.jobId))
      .map((key) => ({ ...key, content: {}, state: {}, bytes: 1, invitationId: key.jobId }));
  };
  await ask({ query, groupOf: () => "all" } as unknown as Database);
  if (found.length === 0) throw new Error(`${name} was not asked.`);
  return found;
}

/** Ids are in the order of their time, and all organizations make them at once. */
const rowId = uuidOf(`n * 1000 + o`);
const someTime = "'2026-01-01'::timestamptz";
const fillings = [
  [
    "job",
    "job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch, node_id, state, input, submitted_by, created_at, started_at, updated_at",
    `${rowId}, ${uuidOf("o")}, 'w', ${rowId}, 1, 'RUNNING', 1, 1, '${nodeId}', '{}', '{}', '{}', ${someTime}, ${someTime}, ${someTime}`,
  ],
  [
    "job_history",
    "job_id, first_sequence, last_sequence, commit_id, committed_at, entries",
    `${rowId}, 1, 1, ${rowId}, ${someTime}, '[]'`,
  ],
  ["job_value", "job_id, value_number, bytes, value", `${rowId}, 1, 2, '{}'`],
  [
    "job_event",
    "job_id, event_number, event_id, payload, outcome, sent_by, received_at",
    `${rowId}, 1, 'event', '{}', 'unmatched', '{}', ${someTime}`,
  ],
  [
    "idempotency_key",
    "idempotency_key, request_hash, claim_id, created_at",
    `(${rowId})::text, '', ${rowId}, ${someTime}`,
  ],
  [
    "workflow_version",
    "version_id, workflow_id, version_number, definition, created_by, created_at",
    `${rowId}, ${rowId}, 1, '{}', '{}', ${someTime}`,
  ],
  [
    "invitation",
    "invitation_id, roles, link_hash, created_by, created_at, expires_at",
    `${rowId}, '{}', decode(md5((o * 1000 + n)::text), 'hex'), '{}', ${someTime}, ${someTime}`,
  ],
] as const;

function jobOf({ organizationId, jobId }: (typeof keys)[number]): Job {
  return {
    organizationId,
    jobId,
    workflowId: jobId,
    workflowName: "w",
    versionId: jobId,
    versionNumber: 1,
    tag: null,
    input: {},
    submittedBy: { type: "service", id: "test" },
    createdAt: at,
    startedAt: null,
    updatedAt: at,
    finishedAt: null,
    sequence: 1,
    leaseEpoch: 1,
    nodeId: null,
    state: {
      status: "PENDING",
      progress: { stepRunCount: 0, visits: {}, properties: {}, bufferedEvents: {}, eventCount: 0 },
      resumeAt: null,
      wakeAt: at,
    },
  };
}

function writtenOf(key: (typeof keys)[number]): WrittenJob {
  return { ...jobOf(key), wakeAt: at, awaitingEventIds: null, begunEpoch: null };
}
