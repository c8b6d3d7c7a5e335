import { mainBranch } from "../../../server/src/core/branch-path.ts";
import type { Job } from "../../../server/src/core/job/job-state.ts";
import { storedState } from "../../../server/src/core/job/values/stored-state.ts";
import { findMemberships } from "../../../server/src/store/access/members.ts";
import { findOrganizations, holdOrganizations } from "../../../server/src/store/access/organizations.ts";
import { insertAuditEntries } from "../../../server/src/store/audit/audit.ts";
import type { Queryable } from "../../../server/src/store/home/database.ts";
import { findKeptEvents, readPayloads, writeEventChanges } from "../../../server/src/store/jobs/events.ts";
import { claimKeys, releaseKeys, storeAnswers } from "../../../server/src/store/jobs/idempotency.ts";
import { type ChangedCalls, markBegun, takeOverCalls, writeCalls } from "../../../server/src/store/jobs/job-calls.ts";
import { insertValues, readValues } from "../../../server/src/store/jobs/job-values.ts";
import {
  historyText,
  insertHistory,
  insertJobs,
  lockJobs,
  readSmallJobs,
  readStandings,
  updateJobs,
  type WrittenJob,
} from "../../../server/src/store/jobs/jobs.ts";
import { readInputs } from "../../../server/src/store/jobs/large-contents.ts";
import { insertMetricChanges } from "../../../server/src/store/jobs/metric-rollups.ts";
import { chooseVersions, loadDefinitions } from "../../../server/src/store/workflows/versions.ts";
import { memberId, ownerId, type RowKey } from "./keyed-rows.ts";
import { uuid } from "./numbered-id.ts";

export interface KeyedStatement {
  readonly name: string;
  /** Runs the statement for the rows of `fillKeyedTables` with these keys, through the store's own function. */
  readonly ask: (db: Queryable, keys: readonly RowKey[], historyRowsPerJob: number) => Promise<unknown>;
}

/** A time later than all times in the rows. */
const at = Date.parse("2026-01-31T12:00:00Z");
const maxBytes = 16_777_216;
const commitId = uuid(1);

/** The statements that requests and commits run with many keys at once. The keys may belong to different organizations. */
export const keyedStatements: readonly KeyedStatement[] = [
  { name: "hold_organizations", ask: (db, keys) => holdOrganizations(db, organizationsOf(keys)) },
  { name: "find_organizations", ask: (db, keys) => findOrganizations(db, organizationsOf(keys)) },
  { name: "find_memberships", ask: (db, keys) => findMemberships(db, memberId, organizationsOf(keys)) },
  { name: "choose_versions", ask: (db, keys) => chooseVersions(db, keys.map(versionRequest)) },
  { name: "load_definitions", ask: (db, keys) => loadDefinitions(db, keys) },
  { name: "lock_jobs", ask: (db, keys) => lockJobs(db, keys, maxBytes) },
  { name: "read_job_inputs", ask: (db, keys) => readInputs(db, keys, maxBytes) },
  { name: "read_job_values", ask: (db, keys) => readValues(db, keys, maxBytes) },
  { name: "read_small_jobs", ask: (db, keys) => readSmallJobs(db, keys) },
  { name: "read_job_standings", ask: (db, keys) => readStandings(db, keys) },
  { name: "find_kept_events", ask: (db, keys) => findKeptEvents(db, keys) },
  { name: "read_event_payloads", ask: (db, keys) => readPayloads(db, keys, maxBytes) },
  { name: "insert_jobs", ask: (db, keys) => insertJobs(db, keys.map(newJob)) },
  {
    name: "update_jobs",
    ask: (db, keys, sequence) =>
      updateJobs(
        db,
        keys.map((key) => ({ before: { ...jobOf(key), sequence }, after: writtenOf(key) })),
      ),
  },
  {
    name: "insert_job_history",
    ask: (db, keys, sequence) => {
      const entries = [{ sequence: sequence + 1, at, type: "job.started" }] as const;
      return insertHistory(
        db,
        { commitId, committedAt: at },
        organizationsOf(keys),
        keys.map((key) => historyText({ ...key, entries, counted: true })),
      );
    },
  },
  {
    name: "insert_metric_changes",
    ask: (db, keys) =>
      insertMetricChanges(
        db,
        commitId,
        [...Map.groupBy(keys, (key) => key.organizationId)].map(([organizationId, own]) => ({
          organizationId,
          changes: own.map(metricChange),
        })),
      ),
  },
  {
    name: "insert_job_values",
    ask: (db, keys) => {
      const text = JSON.stringify("x".repeat(2_100));
      const values = [{ valueNumber: 2, bytes: text.length, text }];
      return insertValues(
        db,
        keys.map((key) => ({ ...key, values })),
      );
    },
  },
  {
    name: "insert_job_events",
    ask: (db, keys) =>
      writeEventChanges(
        db,
        keys.map((key) => ({ ...key, changes: [{ ...keptEvent, eventId: key.eventId }] })),
      ),
  },
  {
    name: "count_duplicate_events",
    ask: (db, keys) =>
      writeEventChanges(
        db,
        keys.map((key) => ({ ...key, changes: [{ type: "repeated", eventNumber: 1, at }] })),
      ),
  },
  {
    name: "consume_job_events",
    ask: (db, keys) =>
      writeEventChanges(
        db,
        keys.map((key) => ({ ...key, changes: [{ type: "consumed", eventNumber: 1, step: "wait", visit: 1, at }] })),
      ),
  },
  { name: "insert_audit_entries", ask: (db, keys) => insertAuditEntries(db, keys.map(auditEntry)) },
  { name: "claim_idempotency_keys", ask: (db, keys) => claimKeys(db, keys.map(claim), at, 1_000) },
  {
    name: "store_idempotent_answers",
    ask: (db, keys) =>
      storeAnswers(
        db,
        keys.map((key) => ({ ...key, answer: { jobId: key.jobId } })),
      ),
  },
  { name: "release_idempotency_keys", ask: (db, keys) => releaseKeys(db, keys) },
  { name: "mark_calls_begun", ask: (db, keys) => markBegun(db, ownerId, keys) },
  { name: "take_over_calls", ask: (db, keys) => takeOverCalls(db, uuid(2), ownerId, keys) },
  {
    name: "put_job_calls",
    ask: (db, keys) => changeCalls(db, keys, (key) => ({ made: [{ ...key, epoch: 2, begun: true }] })),
  },
  { name: "delete_calls_of_jobs", ask: (db, keys) => changeCalls(db, keys, (key) => ({ ended: [key] })) },
  { name: "delete_calls", ask: (db, keys) => changeCalls(db, keys, (key) => ({ ended: [key], callCount: 1 })) },
];

function changeCalls(
  db: Queryable,
  keys: readonly RowKey[],
  changeOf: (key: RowKey) => Partial<ChangedCalls>,
): Promise<unknown> {
  const holder = { nodeId: ownerId, readyAt: at };
  const jobs = keys.map((key) => ({ ...key, made: [], ended: [], callCount: 0, ...changeOf(key) }));
  return writeCalls(db, holder, jobs);
}

function organizationsOf(keys: readonly RowKey[]): string[] {
  return [...new Set(keys.map((key) => key.organizationId))];
}

/** Names a version in one of the three possible ways. `index` chooses the way, so that all three occur. */
function versionRequest({ organizationId, workflowId, versionId }: RowKey, index: number) {
  const choices = [
    { by: "tag", tag: "$LIVE" },
    { by: "versionId", versionId },
    { by: "versionNumber", versionNumber: 1 },
  ] as const;
  const choice = choices[index % choices.length] ?? choices[0];
  return { organizationId, workflowId, choice };
}

function metricChange({ workflowId }: RowKey) {
  return {
    workflowId,
    measure: "jobsSubmitted",
    hour: at / 3_600_000,
    durationClass: 0,
    count: 1,
    totalMs: 0,
    maxMs: 0,
  } as const;
}

const sender = { type: "service", id: "test" } as const;
const keptEvent = {
  type: "kept",
  eventNumber: 2,
  payload: { approved: true },
  address: undefined,
  outcome: "buffered",
  sentBy: sender,
  at,
} as const;

function auditEntry({ organizationId, jobId }: RowKey, index: number) {
  return {
    organizationId,
    entryId: newId(index),
    recordedAt: at,
    actor: sender,
    action: "CancelJob",
    outcome: "accepted",
    targetType: "job",
    targetId: jobId,
    requestId: newId(index),
    address: "::1",
    details: {},
  } as const;
}

function claim({ organizationId, idempotencyKey }: RowKey) {
  return { organizationId, idempotencyKey, requestHash: Buffer.alloc(32), claimId: commitId };
}

/** Makes an id that sorts after the ids of all rows. */
function newId(index: number): string {
  return uuid(900_000_000_000 + index);
}

function newJob(key: RowKey, index: number): WrittenJob {
  return writtenOf({ ...key, jobId: newId(index) });
}

function writtenOf(key: RowKey): WrittenJob {
  const job = jobOf(key);
  const derived = { wakeAt: null, timeoutAt: null, awaitingEventIds: null, callCount: 1 };
  return { ...job, state: storedState(job.state), ...derived };
}

/** A job that goes from one call to the next, as most jobs in most commits do. */
function jobOf({ organizationId, jobId, workflowId, versionId, epoch }: RowKey): Job {
  return {
    organizationId,
    jobId,
    workflowId,
    workflowName: "w",
    versionId,
    versionNumber: 1,
    tag: null,
    input: { sku: "STEP-2", count: 1 },
    submittedBy: sender,
    parent: null,
    createdAt: at,
    startedAt: at,
    updatedAt: at,
    finishedAt: null,
    sequence: 4,
    leaseEpoch: epoch,
    state: {
      status: "RUNNING",
      progress: { stepRunCount: 2, bufferedEvents: { approved: 1 }, eventCount: 1 },
      cursors: [
        {
          branch: mainBranch,
          carried: { visits: { reserve: 1, charge: 1 }, properties: { sku: "STEP-2", reservationId: jobId } },
          stand: {
            phase: "calling",
            name: "ship",
            visit: 1,
            attempt: 1,
            input: { sku: "STEP-2" },
            failedAttempts: 0,
            interruptions: 0,
            epoch,
          },
        },
      ],
    },
  };
}
