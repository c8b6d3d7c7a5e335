import { randomUUID } from "node:crypto";
import { said } from "@stepwell/testing/notes.ts";
import type { Queryable } from "../../../src/store/home/database.ts";

/** A row of `job`, by its columns. */
export type JobRow = Readonly<Record<string, unknown>>;

const at = "2026-01-31T12:00:00Z";

const accepted = {
  workflow_name: "test",
  version_number: 1,
  sequence: 3,
  lease_epoch: 1,
  state: "{}",
  input: "{}",
  submitted_by: "{}",
  created_at: at,
  updated_at: at,
};
const running = { ...accepted, status: "RUNNING", started_at: at };
const finished = { ...accepted, started_at: at, finished_at: at };

/** One row for every state of a job. */
export const jobRows = {
  pending: { ...accepted, status: "PENDING", wake_at: at },
  calling: { ...running, call_count: 1 },
  retrying: { ...running, wake_at: at },
  waiting: { ...running, awaiting_event_ids: ["approved"] },
  waitingBesideACall: { ...running, awaiting_event_ids: ["approved"], call_count: 1 },
  waitingWithTimeout: { ...running, awaiting_event_ids: ["approved"], wake_at: at },
  succeeded: { ...finished, status: "SUCCEEDED" },
  failed: { ...finished, status: "FAILED" },
  cancelled: { ...finished, status: "CANCELLED" },
  cancelledBeforeItsStart: { ...finished, status: "CANCELLED", started_at: null },
} satisfies Record<string, JobRow>;

/** Writes the row, with new ids where the row has none. */
export async function insertJobRow(target: Queryable, row: JobRow): Promise<void> {
  const keys = {
    organization_id: randomUUID(),
    job_id: randomUUID(),
    workflow_id: randomUUID(),
    version_id: randomUUID(),
  };
  const whole = { ...keys, ...row };
  const columns = Object.keys(whole);
  const places = columns.map((_, index) => `$${index + 1}`);
  const text = `INSERT INTO job (${columns.join(", ")}) VALUES (${places.join(", ")})`;
  await target.query(said(text), Object.values(whole));
}
