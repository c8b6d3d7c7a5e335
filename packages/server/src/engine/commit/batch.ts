import type { JobLimits } from "../../core/job/draft.ts";
import { type EventPayload, holdsPayloads, payloadsToRead } from "../../core/job/event-payloads.ts";
import type { CallEffect, Change, EventChange, Fact } from "../../core/job/fact.ts";
import type { HistoryEntry } from "../../core/job/history.ts";
import { submitJob, transition } from "../../core/job/job.ts";
import { awaitedEventIds, type Job, type Timestamp, wakeAtOf } from "../../core/job/job-state.ts";
import { looksIntoValues } from "../../core/job/looks-into-values.ts";
import { ValueBook } from "../../core/job/value-book.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { pointerTo } from "../../core/problem.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import { holdOrganizations } from "../../store/access/organizations.ts";
import { type AuditEntry, insertAuditEntries } from "../../store/audit/audit.ts";
import type { Transaction } from "../../store/home/database.ts";
import { findKeptEvents, readPayloads, writeEventChanges } from "../../store/jobs/events.ts";
import { insertValues } from "../../store/jobs/job-values.ts";
import {
  insertHistory,
  insertJobs,
  type JobKey,
  type LockedJob,
  lockJobs,
  updateJobs,
  type WrittenJob,
} from "../../store/jobs/jobs.ts";
import { insertMetricChanges } from "../../store/jobs/metric-rollups.ts";
import { type ChosenVersion, chooseVersions } from "../../store/workflows/versions.ts";
import { newId } from "../identifier.ts";
import { type Parked, versionUnreadable } from "../plans/parking.ts";
import type { LoadedPlans, Plans } from "../plans/plans.ts";
import type { Command, FactCommand, Outcome, SubmitCommand } from "./command.ts";
import { CommitCounts, type CountedJob, payloadBytesOf } from "./commit-counts.ts";
import { openValues } from "./open-values.ts";
import { type ReplayContext, replayKnownKeys, replyTo, settleKeys } from "./replay.ts";
import type { BatchTurn } from "./turns.ts";

/** One job that the batch changed. */
export interface ChangedJob {
  readonly job: Job;
  readonly plan: Plan;
  /** The call that is now owed; undefined when the job waits, ended, or is called by somebody already. */
  readonly call: CallEffect | undefined;
  /** The epoch of the call that is written down as begun with this change; null when its begin has to be noted first. */
  readonly begunEpoch: number | null;
  readonly entries: readonly HistoryEntry[];
}

export interface AppliedBatch {
  readonly outcomes: readonly Outcome[];
  readonly changed: readonly ChangedJob[];
}

export interface BatchContext extends ReplayContext {
  readonly plans: Plans;
  readonly limits: JobLimits;
  readonly nodeId: string;
  /** Bounds the states, the inputs, the stored values and the payloads that one batch loads, each of the four by itself. */
  readonly maxBytes: number;
  readonly turn: BatchTurn;
  readonly hasRoomForCall: (organizationId: string) => boolean;
  /** The error for new jobs of an organization that stores as much as it may. */
  readonly storeFullError: (organizationId: string) => ServiceError | undefined;
  /** Says of each call of this batch in turn whether it will begin as soon as the batch is committed. */
  readonly beginsAtOnce: (organizationId: string) => boolean;
}

/**
 * Applies commands, in their order, inside one transaction: claim the keys, lock and load the jobs, let the state machine decide, write
 * what changed with a handful of set-based statements. No two commands of a batch may carry the same idempotency key.
 */
export async function applyBatch(
  transaction: Transaction,
  commands: readonly Command[],
  context: BatchContext,
): Promise<AppliedBatch> {
  const replies = await replayKnownKeys(transaction, commands, context);
  const fresh = commands.filter((command) => !replies.has(command));
  const jobs = await loadJobs(transaction, fresh, context);
  for (const command of fresh) {
    const outcome = context.turn.take(command.organizationId, () => applyCommand(jobs, command, context));
    replies.set(command, outcome ?? { type: "deferred" });
  }
  await writeJobs(transaction, jobs, context);
  await settleKeys(transaction, fresh, replies);
  return { outcomes: commands.map((command) => replyTo(replies, command)), changed: changedJobs(jobs) };
}

/** One job while the batch changes it. `before` is undefined for a job that the batch creates. */
interface OpenJob extends CountedJob {
  readonly plan: Plan;
  job: Job;
  call: CallEffect | undefined;
  begunEpoch: number | null;
  readonly entries: HistoryEntry[];
  readonly events: EventChange[];
  /** Of its kept events, as far as a wait may read them in this batch. */
  readonly payloads: Map<number, EventPayload>;
  payloadBytes: number;
}

interface LoadedJobs {
  readonly open: Map<string, OpenJob>;
  /** Those whose organization is deleted: nothing begins there any more. */
  readonly gone: ReadonlySet<Command>;
  /** Those whose job or organization another transaction holds. */
  readonly held: ReadonlySet<Command>;
  readonly choices: ReadonlyMap<Command, ChosenVersion>;
  readonly plans: LoadedPlans;
  /** Jobs that are in the store, and of whose version there is no plan here. */
  readonly parked: ReadonlyMap<string, Parked>;
  readonly keptEvents: ReadonlyMap<string, number>;
  readonly audited: AuditEntry[];
}

async function loadJobs(
  transaction: Transaction,
  commands: readonly Command[],
  context: BatchContext,
): Promise<LoadedJobs> {
  const submits = commands.filter((command) => command.type === "submit");
  const facts = commands.filter((command) => command.type === "fact");
  const beginnings = commands.filter((command) => command.type === "submit" || command.fact.type === "job.resumed");
  const [organizations, chosen, { locked, held: heldJobs }] = await Promise.all([
    holdOrganizations(
      transaction,
      beginnings.map(({ organizationId }) => organizationId),
    ),
    chooseVersions(transaction, submits),
    lockJobs(transaction, facts, context.maxBytes),
  ]);
  const { living, claimed } = organizations;
  const heldKeys = new Set(heldJobs.map(keyOf));
  const held = new Set<Command>([
    ...beginnings.filter(({ organizationId }) => claimed.has(organizationId)),
    ...facts.filter((command) => heldKeys.has(keyOf(command))),
  ]);
  const gone = new Set(beginnings.filter(({ organizationId }) => !living.has(organizationId)));
  const choices = new Map<Command, ChosenVersion>();
  for (const choice of chosen) {
    const command = submits[choice.request];
    if (command !== undefined) choices.set(command, choice);
  }
  const plans = await context.plans.load(transaction, [
    ...submits.flatMap((command) => {
      const versionId = choices.get(command)?.versionId;
      return versionId ? [{ organizationId: command.organizationId, versionId }] : [];
    }),
    ...locked,
  ]);
  const factsByJob = Map.groupBy(facts, keyOf);
  const needsValues = (job: LockedJob) => {
    const ofJob = factsByJob.get(keyOf(job))?.map(({ fact }) => fact) ?? [];
    const plan = plans.plans.get(job.versionId);
    return plan !== undefined && looksIntoValues(plan, job.state, ofJob);
  };
  const open = new Map<string, OpenJob>();
  const parked = new Map<string, Parked>();
  for (const { job, values } of await openValues(transaction, locked, needsValues, context.maxBytes)) {
    const plan = plans.plans.get(job.versionId);
    const failure = plans.parked.get(job.versionId);
    if (plan !== undefined) open.set(keyOf(job), newlyOpened(job, plan, values, job));
    else if (failure !== undefined) parked.set(keyOf(job), failure);
  }
  const [keptEvents] = await Promise.all([
    loadUnlistedEvents(transaction, facts, open),
    loadPayloads(transaction, factsByJob, open, context.maxBytes),
  ]);
  return { open, gone, held, choices, plans, parked, keptEvents, audited: [] };
}

function newlyOpened(job: Job, plan: Plan, values: ValueBook, before?: Job): OpenJob {
  return {
    before,
    job,
    plan,
    call: undefined,
    begunEpoch: null,
    entries: [],
    events: [],
    payloads: new Map(),
    values,
    payloadBytes: 0,
  };
}

/** Mostly nothing: the store is asked only for jobs that hold events which a wait may read in this batch. */
async function loadPayloads(
  transaction: Transaction,
  factsByJob: ReadonlyMap<string, readonly FactCommand[]>,
  open: ReadonlyMap<string, OpenJob>,
  maxBytes: number,
): Promise<void> {
  const holding = [...open].filter(([, { plan, job }]) => holdsPayloads(plan, job));
  if (holding.length === 0) return;
  const wanted = holding.flatMap(([key, { plan, job }]) => {
    const { organizationId, jobId } = job;
    const numbers = payloadsToRead(plan, job, factsByJob.get(key)?.map(({ fact }) => fact) ?? []);
    return numbers.map((eventNumber) => ({ organizationId, jobId, eventNumber }));
  });
  for (const request of wanted) open.get(keyOf(request))?.payloads.set(request.eventNumber, "none");
  for (const { payload, isLeftOut, ...event } of await readPayloads(transaction, wanted, maxBytes)) {
    open.get(keyOf(event))?.payloads.set(event.eventNumber, isLeftOut ? "tooLarge" : { value: payload });
  }
}

async function loadUnlistedEvents(
  transaction: Transaction,
  facts: readonly FactCommand[],
  open: ReadonlyMap<string, OpenJob>,
): Promise<ReadonlyMap<string, number>> {
  const wanted = facts.flatMap(({ organizationId, jobId, fact }) => {
    if (fact.type !== "event.received") return [];
    const plan = open.get(keyOf({ organizationId, jobId }))?.plan;
    return plan === undefined || plan.listedEventIds.has(fact.eventId)
      ? []
      : [{ organizationId, jobId, eventId: fact.eventId }];
  });
  const kept = await findKeptEvents(transaction, wanted);
  return new Map(kept.map((event) => [`${keyOf(event)} ${event.eventId}`, event.eventNumber]));
}

function applyCommand(jobs: LoadedJobs, command: Command, context: BatchContext): Outcome {
  if (jobs.held.has(command)) return { type: "held" };
  return command.type === "submit" ? applySubmit(jobs, command, context) : applyFact(jobs, command, context);
}

/** A defect on one job must not cost the others of the batch their commit. Nothing is changed before the state machine has answered. */
function decided<Decision>(decide: () => Decision): Decision | { readonly type: "failed"; readonly error: unknown } {
  try {
    return decide();
  } catch (error) {
    return { type: "failed", error };
  }
}

function applySubmit(jobs: LoadedJobs, command: SubmitCommand, context: BatchContext): Outcome {
  const chosen = jobs.choices.get(command);
  if (chosen === undefined || jobs.gone.has(command)) return { type: "rejected", error: notFound("workflow") };
  if (chosen.versionId === null || chosen.versionNumber === null)
    return { type: "rejected", error: notFound("version of this workflow") };
  const plan = jobs.plans.plans.get(chosen.versionId);
  if (plan === undefined) return rejectedAsParked(jobs.plans.parked.get(chosen.versionId));
  const { organizationId, jobId, workflowId, choice, input, submittedBy } = command;
  const storeFull = context.storeFullError(organizationId);
  if (storeFull !== undefined) return { type: "rejected", error: storeFull };
  const submission = {
    organizationId,
    jobId,
    workflowId,
    workflowName: chosen.workflowName,
    versionId: chosen.versionId,
    versionNumber: chosen.versionNumber,
    tag: choice.by === "tag" ? choice.tag : null,
    input,
    submittedBy,
    at: context.now,
    hasRoomForCall: context.hasRoomForCall(organizationId),
  };
  const change = decided(() => submitJob(plan, submission, context.limits));
  if ("error" in change) return change;
  if ("problems" in change) {
    const problems = change.problems.map(({ pointer, detail }) => ({
      pointer: `${pointerTo("", "inputJson")}${pointer}`,
      detail,
    }));
    const message = `The input does not fit the input definition of ${plan.firstStep.name}, the first step of ${chosen.workflowName}.`;
    return { type: "rejected", error: new ServiceError("ValidationError", message, { problems }) };
  }
  const values = new ValueBook();
  values.learnInput(input);
  const opened = newlyOpened(change.job, plan, values);
  jobs.open.set(keyOf(command), opened);
  return applied(jobs, opened, change, command, context);
}

function applyFact(jobs: LoadedJobs, command: FactCommand, context: BatchContext): Outcome {
  const opened = jobs.open.get(keyOf(command));
  const parked = jobs.parked.get(keyOf(command));
  if (jobs.gone.has(command) || (opened === undefined && parked === undefined))
    return { type: "rejected", error: notFound("job") };
  if (opened === undefined) return rejectedAsParked(parked);
  const fact = timed(jobs, opened, command, context.now);
  const change = decided(() => transition(opened.plan, opened.job, fact, context.limits, opened.payloads));
  if ("error" in change) return change;
  if (change.verdict.type === "rejected") {
    const { code, detail, problems = [] } = change.verdict;
    const retry = code === "RateLimitError" ? { retryAfterSeconds: fullJobRetrySeconds } : {};
    return { type: "rejected", error: new ServiceError(code, detail, { problems, ...retry }) };
  }
  return applied(jobs, opened, change, command, context);
}

/** A job that holds all the events it may makes no room by itself: there is no use in asking soon. */
const fullJobRetrySeconds = 3_600;

function timed(jobs: LoadedJobs, opened: OpenJob, command: FactCommand, at: Timestamp): Fact {
  const { fact } = command;
  if (fact.type !== "event.received") return { ...fact, at };
  const keptBefore = jobs.keptEvents.get(`${keyOf(command)} ${fact.eventId}`);
  const keptNow = opened.events.find(
    (change) => change.type === "kept" && change.eventId === fact.eventId,
  )?.eventNumber;
  return { ...fact, at, keptAs: keptBefore ?? keptNow ?? null };
}

function applied(jobs: LoadedJobs, opened: OpenJob, change: Change, command: Command, context: BatchContext): Outcome {
  const acquired = change.effects.length > 0;
  const { state } = change.job;
  const isCalling = state.status === "RUNNING" && state.step.phase === "calling";
  // An event for a job that another node is calling must not make this node its owner.
  const nodeId = !isCalling ? null : acquired ? context.nodeId : opened.job.nodeId;
  opened.job = { ...change.job, nodeId };
  opened.entries.push(...change.entries);
  opened.events.push(...change.events);
  opened.payloadBytes += payloadBytesOf(command, change.events);
  // What a wait reads later in this batch is not in the store yet.
  for (const event of change.events) {
    if (event.type !== "kept" || event.payload === undefined) continue;
    opened.payloads.set(event.eventNumber, { value: event.payload });
  }
  // A later fact of the same batch may have taken back what an earlier one asked for.
  opened.call = isCalling ? (change.effects.at(-1) ?? opened.call) : undefined;
  if (opened.call !== undefined && acquired) opened.begunEpoch = begunEpochOf(opened.call, opened.job, context);
  if (command.audit !== undefined && change.entries.length > 0) {
    const { organizationId, audit } = command;
    jobs.audited.push({ organizationId, entryId: newId(context.now), recordedAt: context.now, ...audit });
  }
  return { type: "done", answer: command.answer(opened.job, change.verdict), job: opened.job, entries: change.entries };
}

/** A suspect begins when it is alone, which only its node knows. */
function begunEpochOf({ isSuspect, leaseEpoch }: CallEffect, job: Job, context: BatchContext): number | null {
  return !isSuspect && context.beginsAtOnce(job.organizationId) ? leaseEpoch : null;
}

/** None of these waits for another's answer, so they go to the store together. */
async function writeJobs(transaction: Transaction, jobs: LoadedJobs, context: BatchContext): Promise<void> {
  const changed = changedJobs(jobs);
  const events = [...jobs.open.values()].filter((opened) => opened.events.length > 0);
  const counts = new CommitCounts();
  const history = changed.map((opened) => counts.countHistory(opened));
  const touched = changed.map(written);
  for (const [index, opened] of changed.entries()) counts.countStoredBytes(opened, history[index] ?? "", context.now);
  await Promise.all([
    insertJobs(
      transaction,
      touched.flatMap(({ before, after }) => (before === undefined ? [after] : [])),
    ),
    updateJobs(
      transaction,
      touched.flatMap(({ before, after }) => (before === undefined ? [] : [{ before, after }])),
    ),
    insertHistory(transaction, history, context.commitId, context.now),
    insertMetricChanges(transaction, context.commitId, counts.changes),
    insertValues(
      transaction,
      touched.map(({ after: { organizationId, jobId }, values }) => ({ organizationId, jobId, values: values.added })),
    ),
    writeEventChanges(
      transaction,
      events.map(({ job: { organizationId, jobId }, events: changes }) => ({ organizationId, jobId, changes })),
    ),
    insertAuditEntries(transaction, jobs.audited),
  ]);
}

/** The job as its row holds it. Its history is stored before: the state names large values by the entries that brought them. */
function written({ before, job, begunEpoch, values }: OpenJob) {
  const state = values.state(job.state, job.sequence);
  const derived = { begunEpoch, wakeAt: wakeAtOf(job.state), awaitingEventIds: awaitedEventIds(job.state) };
  const after: WrittenJob = { ...job, state, ...derived };
  return { before, after, values };
}

function changedJobs(jobs: LoadedJobs): OpenJob[] {
  return [...jobs.open.values()].filter((opened) => opened.entries.length > 0);
}

function rejectedAsParked(parked: Parked | undefined): Outcome {
  if (parked === undefined) throw new Error("A version has neither a plan nor a reason why it has none.");
  return { type: "rejected", error: versionUnreadable(parked) };
}

function keyOf(key: JobKey): string {
  return `${key.organizationId} ${key.jobId}`;
}
