import { randomUUID } from "node:crypto";
import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, type RegisteredVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { startPostgresServer } from "@stepwell/testing/processes/postgres-process.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { describe, expect, test } from "vitest";

interface Entry {
  readonly sequence: number;
  readonly type: string;
  readonly step?: string;
  readonly input?: unknown;
  readonly output?: unknown;
}

const any = { $ref: "#/definitions/any" };
const gate = {
  type: "/service/waitForEventIds",
  config: { eventIds: ["open"], payloadDefinitions: { open: { $ref: "#/definitions/decision" } } },
};

/** A workflow with a wait that outputs its input together with the payload of its event, and a step that reads one property of the payload. */
const definition = JSON.stringify({
  workflowName: "test",
  steps: [
    {
      name: "gate",
      integrationDetails: { ...gate, inputDefinition: any, outputDefinition: { $ref: "#/definitions/decided" } },
      transitionToStep: "wait",
    },
    waitStep("wait", ["go"], "take"),
    {
      name: "take",
      integrationDetails: {
        type: "/service/noop",
        inputDefinition: { $ref: "#/definitions/note" },
        outputDefinition: any,
      },
      transitionToStep: null,
    },
  ],
  definitions: {
    any: { type: "object" },
    decided: { type: "object", properties: { note: { type: "string" } } },
    decision: { type: "object", properties: { note: { type: "string" } } },
    note: { type: "object", properties: { note: { type: "string" } }, additionalProperties: false },
  },
});

async function historyOf(api: Client, jobId: string, pageSize: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let pageToken: string | undefined; ; ) {
    const query = { pageSize, ...(pageToken !== undefined && { pageToken }) };
    const { body } = await api.call<{ entries: Entry[]; nextPageToken?: string }>("GetJobHistory", {
      params: { jobId },
      query,
    });
    entries.push(...body.entries);
    pageToken = body.nextPageToken;
    if (pageToken === undefined) return entries;
  }
}

const valuesOf = (entries: readonly Entry[]) =>
  entries.flatMap(({ type, step, input, output }) =>
    step && (input ?? output) ? [[type, step, input ?? output]] : [],
  );

const send = (api: Client, jobId: string, eventId: string, payload?: object) =>
  api.call("SendJobEvent", { params: { jobId }, body: { eventId, ...(payload && { payload }) } });

const finished = async (api: Client, jobId: string) =>
  (await api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } })).body;

onEveryStore((home) => {
  const service = useService(home);

  test.each([
    ["small", 10, 0],
    ["large", 5_000, 1],
  ])("a %s value reaches every step and the whole history, and is stored once", async (_size, length, rowCount) => {
    const { api, organizationId } = await service.newOrganization();
    const { workflowId } = await deploy(api, definition);
    const input = { text: "ä".repeat(length), deep: [{ of: "x".repeat(length) }] };
    const { jobId } = await submitAndWait(api, workflowId, input);
    const note = "y".repeat(length);
    await send(api, jobId, "open", { note });
    // An earlier release does not know that a state can name stored values by their numbers. So the state that it would read is null, instead of a
    // state with missing values.
    const [state] = await service.running.database.query(
      said<{ isNull: boolean }>(
        `SELECT state::text = 'null' AS "isNull" FROM job WHERE organization_id = $1 AND job_id = $2`,
      ),
      [organizationId, jobId],
    );
    expect(state?.isNull).toBe(rowCount > 0);
    const listed = await api.call<{ jobs: object[] }>("ListJobs", { query: { workflowId } });
    expect(listed.body.jobs).toMatchObject([{ jobId, stepName: "wait", awaitingEventIds: ["go"] }]);
    await send(api, jobId, "go");

    const decided = { ...input, note };
    expect(await finished(api, jobId)).toMatchObject({
      status: "SUCCEEDED",
      input,
      output: { note },
      steps: [
        { input, output: decided },
        { input: decided, output: decided },
        { input: { note }, output: { note } },
      ],
    });
    const entries = await historyOf(api, jobId, 200);
    expect(valuesOf(entries)).toEqual([
      ["step.started", "gate", input],
      ["step.succeeded", "gate", decided],
      ["step.started", "wait", decided],
      ["step.succeeded", "wait", decided],
      ["step.started", "take", { note }],
      ["step.succeeded", "take", { note }],
    ]);
    expect(await historyOf(api, jobId, 1)).toEqual(entries);
    const rows = await service.running.database.query(
      said<{ bytes: number; same: boolean }>(
        `SELECT bytes, octet_length(value::text) = bytes AS same FROM job_value WHERE organization_id = $1 AND job_id = $2`,
      ),
      [organizationId, jobId],
    );
    // The rows are the output of the first wait, and the input of the last step.
    expect(rows.map(({ same }) => same)).toEqual(Array(2 * rowCount).fill(true));
  });

  test("a job of an earlier release, whose values are in its rows, continues and is read as before", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const version = await deploy(
      api,
      definitionOf(noopStep("first", "w"), waitStep("w", ["x"], "n"), noopStep("n", null)),
    );
    const input = { text: "x".repeat(50_000) };
    const jobId = await insertEarlierJob(organization, version, input);

    const before = await historyOf(api, jobId, 1);
    expect(valuesOf(before)).toEqual([
      ["step.started", "first", input],
      ["step.succeeded", "first", input],
      ["step.started", "w", { ...input, more: 1 }],
    ]);
    await send(api, jobId, "other");
    expect((await finishedSoon(api, jobId)).currentStep).toMatchObject({ name: "w", input: { ...input, more: 1 } });
    await send(api, jobId, "x");
    const output = { ...input, more: 1 };
    expect(await finished(api, jobId)).toMatchObject({ status: "SUCCEEDED", input, output });
    const all = await historyOf(api, jobId, 1);
    expect(valuesOf(all.slice(before.length))).toEqual([
      ["step.succeeded", "w", output],
      ["step.started", "n", output],
      ["step.succeeded", "n", output],
    ]);
  });

  test("a page of an earlier release's history finds an input that an earlier commit wrote", async () => {
    const organization = await service.newOrganization();
    const { api, organizationId } = organization;
    const version = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    const input = { text: "x".repeat(5_000) };
    const jobId = await insertEarlierJob(organization, version, input);
    // The wait's output was its input, which had been written two commits earlier.
    const commits = [
      [{ sequence: 7, at: 7, type: "event.received", eventId: "other", eventNumber: 1, outcome: "unmatched" }],
      [
        { sequence: 8, at: 8, type: "event.received", eventId: "x", eventNumber: 2, outcome: "matched" },
        { sequence: 9, at: 9, type: "step.succeeded", step: "w", visit: 1, attempt: 1, output: { same: "stepInput" } },
        { sequence: 10, at: 10, type: "job.succeeded" },
      ],
    ];
    for (const entries of commits) await insertCommit(organizationId, jobId, entries);
    await service.running.database.query(
      said(
        `UPDATE job SET status = 'SUCCEEDED', state = '{"status":"SUCCEEDED"}', sequence = 10, awaiting_event_ids = NULL, finished_at = updated_at
         WHERE organization_id = $1 AND job_id = $2`,
      ),
      [organizationId, jobId],
    );
    const output = { ...input, more: 1 };
    const entries = await historyOf(api, jobId, 1);
    expect(entries).toEqual(await historyOf(api, jobId, 200));
    expect(entries.at(-2)).toMatchObject({ sequence: 9, output });
    expect(await finished(api, jobId)).toMatchObject({ output, steps: [{ name: "first" }, { name: "w", output }] });
  });

  const finishedSoon = async (api: Client, jobId: string) =>
    (await api.call<JobBody>("GetJob", { params: { jobId } })).body;

  /** Inserts a job that has waited in `w` since its first commit, as the earlier release wrote it. */
  async function insertEarlierJob(
    { organizationId, owner }: TestOrganization,
    { workflowId, versionId, versionNumber }: RegisteredVersion,
    input: object,
  ): Promise<string> {
    const jobId = service.running.engine.newId();
    const received = { ...input, more: 1 };
    const progress = { stepRunCount: 2, visits: { first: 1, w: 1 }, properties: {}, bufferedEvents: {}, eventCount: 0 };
    const position = { phase: "waiting", name: "w", visit: 1, attempt: 1, failedAttempts: 0, interruptions: 0 };
    const step = { ...position, input: received, since: 6, wakeAt: null, missingEventIds: ["x"] };
    const by = { type: "user", id: owner.userId };
    const at = "2026-01-31T12:00:00Z";
    await service.running.database.query(
      said(
        `INSERT INTO job (organization_id, job_id, workflow_id, workflow_name, version_id, version_number, status, sequence, lease_epoch,
           awaiting_event_ids, state, input, submitted_by, created_at, started_at, updated_at)
         VALUES ($1, $2, $3, 'test', $4, $5, 'RUNNING', 6, 0, ARRAY['x'], $6, $7, $8, $9, $9, $9)`,
      ),
      [
        organizationId,
        jobId,
        workflowId,
        versionId,
        versionNumber,
        JSON.stringify({ status: "RUNNING", progress, step }),
        JSON.stringify(input),
        JSON.stringify(by),
        at,
      ],
    );
    await insertCommit(organizationId, jobId, [
      { sequence: 1, at: 1, type: "job.submitted", by },
      { sequence: 2, at: 2, type: "job.started" },
      { sequence: 3, at: 3, type: "step.started", step: "first", visit: 1, input: { same: "jobInput" } },
      {
        sequence: 4,
        at: 4,
        type: "step.succeeded",
        step: "first",
        visit: 1,
        attempt: 1,
        output: { same: "stepInput" },
      },
      { sequence: 5, at: 5, type: "step.started", step: "w", visit: 1, input: { value: received } },
      { sequence: 6, at: 6, type: "step.waiting", step: "w", visit: 1, eventIds: ["x"] },
    ]);
    return jobId;
  }

  async function insertCommit(
    organizationId: string,
    jobId: string,
    entries: readonly ({ readonly sequence: number } & Record<string, unknown>)[],
  ): Promise<void> {
    const numbers = entries.map(({ sequence }) => sequence);
    await service.running.database.query(
      said(
        `INSERT INTO job_history (organization_id, job_id, first_sequence, last_sequence, commit_id, committed_at, entries)
         VALUES ($1, $2, $3, $4, $5, now(), $6)`,
      ),
      [organizationId, jobId, Math.min(...numbers), Math.max(...numbers), randomUUID(), JSON.stringify(entries)],
    );
  }
});

inWholeMatrix(() => {
  describe("on a server of its own, whose log contains only the service's writes", () => {
    const service = useService({
      name: "postgres",
      prepare: async () => {
        // After a checkpoint, PostgreSQL logs the whole page when a page is first changed, which would hide the bytes of the event itself.
        const server = await startPostgresServer(["full_page_writes=off", "autovacuum=off", "fsync=off"]);
        return { environment: { DATABASE_URL: await server.createDatabase("stepwell") }, remove: () => server.stop() };
      },
    });

    const logPosition = async () => {
      const [row] = await service.running.database.query(
        said<{ position: number }>("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS position"),
        [],
      );
      return row?.position ?? Number.NaN;
    };

    test("an event causes few writes, however large the job's input is, even if the event ends a wait that outputs this input", async () => {
      const { api } = await service.newOrganization();
      const { workflowId } = await deploy(api, definitionOf(waitStep("w", ["x"], "v"), waitStep("v", ["y"], null)));
      const input = {
        text: Buffer.from(crypto.getRandomValues(new Uint8Array(50_000)))
          .toString("base64")
          .repeat(13),
      };
      const jobIds: string[] = [];
      for (let count = 0; count < 9; count += 1) jobIds.push((await submitAndWait(api, workflowId, input)).jobId);
      for (const eventId of ["other", "x", "y"]) {
        const before = await logPosition();
        for (const jobId of jobIds) await send(api, jobId, eventId);
        // The test takes the mean, since a heartbeat or a rollup of metrics may happen between two measurements.
        expect(((await logPosition()) - before) / jobIds.length).toBeLessThan(10_000);
      }
    });
  });
});
