import { expect, test } from "vitest";
import type { Operation } from "../operation.ts";
import { OutsideLog } from "../outside/outside-log.ts";
import { checkCampaign } from "./check.ts";
import type { FinalJob } from "./final-job.ts";
import type { Finding } from "./finding.ts";
import {
  branch,
  cancel,
  finished,
  info,
  makeKey,
  numbered,
  ok,
  read,
  resume,
  send,
  sendingOf,
  shapesById,
  soundJobs,
  soundLog,
  soundOperations,
  started,
  step,
  submissionOf,
  submit,
  succeeded,
  type Transition,
} from "./sound-campaign.ts";

test("a sound campaign has no findings", async () => {
  expect(await check()).toEqual([]);
});

test("an acknowledged submission whose job is gone is lost", async () => {
  const findings = await check({ jobs: (jobs) => jobs.filter(({ jobId }) => jobId !== "finished") });
  expect(findings.map(({ kind }) => kind)).toEqual(["lost"]);
  expect(findings[0]?.detail).toContain("Job finished");
});

test("the acknowledged events of a job that is gone are lost with it", async () => {
  const findings = await check({ jobs: (jobs) => jobs.filter(({ jobId }) => jobId !== "waiting") });
  expect(findings.map(({ kind }) => kind)).toEqual(["lost", "lost", "lost", "lost"]);
});

test("a submission without an answer may have become a job or not", async () => {
  const unanswered = submit(submissionOf({ ...finished, input: { nonce: "unanswered", count: 1 } }), info, 9);
  const itsJob = { ...jobOf("finished"), jobId: "surprise", input: { nonce: "unanswered", count: 1 } };
  expect(await check({ operations: (operations) => [...operations, unanswered] })).toEqual([]);
  expect(
    await check({ operations: (operations) => [...operations, unanswered], jobs: (jobs) => [...jobs, itsJob] }),
  ).toEqual([]);
});

test("two jobs under one idempotency key are a duplicate", async () => {
  const findings = await check({ jobs: (jobs) => [...jobs, { ...jobOf("finished"), jobId: "twin" }] });
  expect(findings.map(({ kind }) => kind)).toEqual(["duplicated"]);
});

test("a repeated key that is answered with another job is a violation", async () => {
  const { submission } = firstSubmit();
  const replay = submit(submission, ok({ jobId: "waiting", status: "RUNNING" }), 9);
  const findings = await check({ operations: (operations) => [...operations, replay] });
  expect(details(findings)).toContain("different jobs");
});

test("a job that nobody asked for is a violation", async () => {
  const stranger = { ...jobOf("finished"), jobId: "stranger", input: { nonce: "of a stranger", count: 3 } };
  expect(details(await check({ jobs: (jobs) => [...jobs, stranger] }))).toContain("Nobody asked");
});

test("a job with another input than was sent is a violation", async () => {
  const changed = { input: { ...finished.input, count: 4 } };
  expect(details(await check({ jobs: change("finished", changed) }))).toContain("Its input is");
});

test("an acknowledged event that is not listed is lost", async () => {
  const findings = await check({ jobs: change("waiting", { events: jobOf("waiting").events.slice(1) }) });
  expect(findings.find(({ kind }) => kind === "lost")?.detail).toContain("part-1");
});

test("an event that is listed twice is a duplicate", async () => {
  const { events } = jobOf("waiting");
  const findings = await check({ jobs: change("waiting", { events: [...events, ...events.slice(0, 1)] }) });
  expect(findings.some(({ kind }) => kind === "duplicated")).toBe(true);
});

test("an event that is acknowledged as a duplicate is lost if no event with its id is listed", async () => {
  const duplicate = send(sendingOf("event-9", "part-2"), ok({ outcome: "duplicate" }), 9);
  const findings = await check({ operations: (operations) => [...operations, duplicate] });
  expect(details(findings)).toContain("called a duplicate");
});

test("an event that a live job refused is a violation", async () => {
  const refused = send(sendingOf("event-9", "part-2"), { type: "rejected", httpStatus: 409, code: "ConflictError" }, 9);
  expect(details(await check({ operations: (operations) => [...operations, refused] }))).toContain("refused");
});

test("an event that is rejected although its idempotency key was answered before is a violation", async () => {
  const sending = { ...sendingOf("event-1", "part-1"), idempotencyKey: "key-3" };
  const refused = send(sending, { type: "rejected", httpStatus: 409, code: "ConflictError" }, 9);
  const first = send(sending, ok({ outcome: "matched" }), 8);
  const findings = await check({
    operations: (all) => [...all.filter(({ type }) => type !== "sendEvent"), first, refused],
  });
  expect(details(findings)).toContain("refused when it was repeated");
});

test("a gap in a history is a violation", async () => {
  const entries = jobOf("finished").entries.filter(({ sequence }) => sequence !== 5);
  expect(details(await check({ jobs: change("finished", { entries }) }))).toContain("follows number 4");
});

test("a status that does not follow from the history is a violation", async () => {
  const changed = { status: "CANCELLED", listedStatus: "CANCELLED" } as const;
  const withoutRead = (operations: Operation[]) => operations.filter(({ type }) => type !== "read");
  const findings = await check({ operations: withoutRead, jobs: change("finished", changed) });
  expect(details(findings)).toContain("GetJob says CANCELLED, its history SUCCEEDED");
});

test("steps that do not follow from the history are a violation", async () => {
  const findings = await check({ jobs: change("finished", { steps: jobOf("finished").steps.slice(1) }) });
  expect(details(findings)).toContain("Its steps");
});

test("a job that left its wait before all events came is a violation", async () => {
  const { entries } = jobOf("waiting");
  const rest = [
    { type: "step.succeeded", step: "wait", visit: 1, attempt: 1, output: { value: {} }, consumed: [1, 2] },
    { type: "step.started", step: "after", visit: 1, input: { value: {} } },
    { type: "step.succeeded", step: "after", visit: 1, attempt: 1, output: { value: {} } },
    { type: "job.succeeded" },
  ] as const;
  const ended: Partial<FinalJob> = {
    status: "SUCCEEDED",
    listedStatus: "SUCCEEDED",
    steps: ["before", "wait", "after"].map((name) => ({ name, branch: "", visit: 1, status: "success" })),
    entries: [...entries, ...rest.map((entry, index) => ({ sequence: entries.length + 1 + index, ...entry }))],
  };
  expect(details(await check({ jobs: change("waiting", ended) }))).toContain("wait consumed the events");
});

test("a job that goes on waiting though all events came is a violation", async () => {
  const { entries, events } = jobOf("waiting");
  const received = { type: "event.received", eventId: "part-2", eventNumber: 3, outcome: "matched" } as const;
  const stuck: Partial<FinalJob> = {
    missingEventIds: [],
    entries: [...entries, { sequence: entries.length + 1, ...received }],
    events: [...events, { eventNumber: 3, eventId: "part-2", outcome: "matched", nonce: "event-2" }],
  };
  const sent = send(sendingOf("event-2", "part-2"), ok({ outcome: "matched" }), 9);
  const findings = await check({ operations: (all) => [...all, sent], jobs: change("waiting", stuck) });
  expect(details(findings)).toContain("though all its events have come");
});

test("a terminal state that a client saw and that changed is a violation", async () => {
  const findings = await check({ operations: (operations) => [...operations, read("waiting", "CANCELLED", 9)] });
  expect(details(findings)).toContain("saw it CANCELLED, and now it is RUNNING");
});

test("a cancellation that was acknowledged and does not hold is a violation", async () => {
  const findings = await check({ operations: (operations) => [...operations, cancel("waiting", 9)] });
  expect(details(findings)).toContain("It was cancelled");
});

test("a resume that was acknowledged and is not in the history is a violation", async () => {
  const findings = await check({ operations: (operations) => [...operations, resume("waiting", 9)] });
  expect(details(findings)).toContain("has 0 resumes, but the answers to clients allow at least 1 and at most 1");
});

test("a job that was cancelled and then resumed need not be cancelled any more", async () => {
  const { entries } = jobOf("waiting");
  const by = { type: "user", id: "owner" } as const;
  const again = [
    { type: "job.cancelled", by },
    { type: "job.resumed", by },
    { type: "step.attemptStarted", step: "wait", visit: 1, attempt: 2 },
    { type: "step.waiting", step: "wait", visit: 1, eventIds: ["part-1", "part-2", "part-3"] },
  ] as const;
  const findings = await check({
    operations: (operations) => [...operations, cancel("waiting", 9), resume("waiting", 10)],
    jobs: change("waiting", { entries: numbered(...(entries as readonly Transition[]), ...again) }),
  });
  expect(findings).toEqual([]);
});

test("a job that is seen unfinished after its end is a violation", async () => {
  const findings = await check({ operations: (operations) => [...operations, read("finished", "RUNNING", 9)] });
  expect(details(findings)).toContain("after its end was known");
});

test("a finished step that is handed out again is a violation", async () => {
  const log = soundLog();
  log.handOut({ jobId: "forked", idempotencyKey: makeKey, attempt: 3, holder: "worker-3" });
  expect(details(await check({ log }))).toContain("had succeeded in attempt 2, and attempt 3 was handed out");
});

test("an attempt that two workers had is a duplicate", async () => {
  const log = soundLog();
  log.handOut({ jobId: "forked", idempotencyKey: makeKey, attempt: 2, holder: "worker-3" });
  const findings = await check({ log });
  expect(findings.map(({ kind }) => kind)).toEqual(["duplicated"]);
});

test("an acknowledged output of a worker is lost if the step has another output", async () => {
  const log = soundLog();
  log.answer({ jobId: "forked", idempotencyKey: makeKey, attempt: 1, holder: "worker-1", isTaken: true });
  const findings = await check({ log });
  expect(findings.map(({ kind }) => kind)).toEqual(["lost"]);
});

test("a task under a key that no step of the job has is a violation", async () => {
  const log = soundLog();
  log.handOut({ jobId: "forked", idempotencyKey: "forked:make:1", attempt: 1, holder: "worker-1" });
  expect(details(await check({ log }))).toContain("the history has no such step");
});

test("a step that succeeded without its function or worker is a violation", async () => {
  const found = details(await check({ log: new OutsideLog() })).split("\n");
  expect(found).toEqual([
    expect.stringMatching(/forked:ask:.* succeeded in attempt 1, which no function or worker received/),
    expect.stringMatching(/forked:make:.* succeeded in attempt 2, which no function or worker received/),
  ]);
});

test("a lost worker's task that no other worker gets is a violation", async () => {
  const { steps, entries } = jobOf("forked");
  const lost = {
    entries: entries.slice(0, 12),
    steps: steps.slice(0, 5).with(2, step(branch.tasks, "make", "running")),
  };
  const log = new OutsideLog();
  for (const given of soundLog().handedOutOf("forked")) if (given.attempt === 1) log.handOut(given);
  expect(details(await check({ jobs: change("forked", lost), log }))).toContain("its steps are moving");
});

test("a fork that ended before its branches is a violation", async () => {
  const rest = [
    succeeded("", "split"),
    started("", "after"),
    succeeded("", "after"),
    { type: "job.succeeded" } as const,
  ];
  const { steps, entries } = jobOf("forked");
  const ended: Partial<FinalJob> = {
    status: "SUCCEEDED",
    listedStatus: "SUCCEEDED",
    entries: numbered(...(entries as readonly Transition[]), ...rest),
    steps: [...steps.with(0, step("", "split", "success")), step("", "after", "success")],
  };
  expect(details(await check({ jobs: change("forked", ended) }))).toContain("its branches are: done, done, cut");
});

test("a branch that the workflow does not have is a violation", async () => {
  const { steps, entries } = jobOf("forked");
  const path = "split:1[strange]";
  const strange: Partial<FinalJob> = {
    entries: numbered(...(entries as readonly Transition[]), started(path, "ask")),
    steps: [...steps, step(path, "ask", "running")],
  };
  expect(details(await check({ jobs: change("forked", strange) }))).toContain("which its workflow does not have");
});

function check({
  operations = (all) => all,
  jobs = (all) => all,
  log = soundLog(),
}: {
  operations?: (sound: Operation[]) => Operation[];
  jobs?: (sound: FinalJob[]) => FinalJob[];
  log?: OutsideLog;
} = {}): Promise<Finding[]> {
  return checkCampaign(operations(soundOperations()), jobs(soundJobs()), shapesById, log);
}

function change(jobId: string, changes: Partial<FinalJob>): (jobs: FinalJob[]) => FinalJob[] {
  return (jobs) => jobs.map((job) => (job.jobId === jobId ? { ...job, ...changes } : job));
}

function jobOf(jobId: string): FinalJob {
  const job = soundJobs().find((candidate) => candidate.jobId === jobId);
  if (job === undefined) throw new Error(`There is no job ${jobId}.`);
  return job;
}

function firstSubmit() {
  const operation = soundOperations().find(({ type }) => type === "submit");
  if (operation?.type !== "submit") throw new Error("Nothing was submitted.");
  return operation;
}

function details(findings: readonly Finding[]): string {
  return findings.map(({ kind, detail }) => `${kind}: ${detail}`).join("\n");
}
