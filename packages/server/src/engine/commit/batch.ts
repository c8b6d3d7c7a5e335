import type { BranchResult } from "../../core/job/branch-result.ts";
import type { JobLimits } from "../../core/job/draft.ts";
import { holdsPayloads, payloadsToRead } from "../../core/job/events/event-payloads.ts";
import type { Change, Fact } from "../../core/job/fact.ts";
import { submitJob, transition } from "../../core/job/job.ts";
import type { Job } from "../../core/job/job-state.ts";
import { branchesLookedInto } from "../../core/job/looks-into-values.ts";
import { resultsToRead } from "../../core/job/result-rows.ts";
import { unreadState } from "../../core/job/values/stored-state.ts";
import { ValueBook } from "../../core/job/values/value-book.ts";
import { pointerTo } from "../../core/problem.ts";
import { notFound, ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import { holdOrganizations } from "../../store/access/organizations.ts";
import { type AuditEntry, insertAuditEntries } from "../../store/audit/audit.ts";
import type { Transaction } from "../../store/home/database.ts";
import { organizationsOf } from "../../store/home/key-parts.ts";
import { findKeptEvents, readPayloads, writeEventChanges } from "../../store/jobs/events.ts";
import { writeCalls } from "../../store/jobs/job-calls.ts";
import { insertNotices } from "../../store/jobs/job-notices.ts";
import { insertValues, readValueRange } from "../../store/jobs/job-values.ts";
import { insertHistory, insertJobs, type JobKey, type LockedJob, lockJobs, updateJobs } from "../../store/jobs/jobs.ts";
import { insertMetricChanges } from "../../store/jobs/metric-rollups.ts";
import { type ChosenVersion, chooseVersions } from "../../store/workflows/versions.ts";
import { newId } from "../identifier.ts";
import { type Parked, versionUnreadable } from "../plans/parking.ts";
import type { LoadedPlans, Plans } from "../plans/plans.ts";
import { numbersOf, openValues } from "../values/open-values.ts";
import type { RecentValues } from "../values/recent-values.ts";
import { type CallTerms, noteHandedTasks, settleCalls } from "./batch-calls.ts";
import type { Command, FactCommand, Outcome, SubmitCommand } from "./command.ts";
import { CommitCounts, payloadBytesOf } from "./commit-counts.ts";
import { CallIsOverError, type ChildCommand, isChild, NewChildren, TooManyChildrenError } from "./new-children.ts";
import { type ChangedJob, newlyOpened, noticesOf, type OpenJob, written } from "./open-job.ts";
import { type ReplayContext, replayKnownKeys, replyTo, settleKeys } from "./replay.ts";
import type { BatchTurn } from "./turns.ts";

export type { ChangedJob } from "./open-job.ts";

export interface AppliedBatch {
  readonly outcomes: readonly Outcome[];
  readonly changed: readonly ChangedJob[];
}

export interface BatchContext extends ReplayContext, CallTerms {
  readonly plans: Plans;
  readonly limits: JobLimits;
  readonly nodeId: string;
  /** The bound on the bytes that one batch loads. It applies separately to the states, the inputs, the stored values and the payloads. */
  readonly maxBytes: number;
  /** The largest number of jobs below one root. */
  readonly maxDescendantsPerJob: number;
  /** Without this cache, the store is asked for every value again. */
  readonly recentValues?: RecentValues | undefined;
  readonly turn: BatchTurn;
  readonly hasRoomForCall: (organizationId: string) => boolean;
  /** The error for new jobs of an organization that has reached its maximum of stored bytes. */
  readonly storeFullError: (organizationId: string) => ServiceError | undefined;
}

/**
 * Applies commands, in their order, inside one transaction: it claims the keys, locks and loads the jobs, lets the state machine decide, and writes
 * the changes with a few set-based statements. No two commands of a batch may carry the same idempotency key.
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
    const outcome = context.turn.take(command, () => applyCommand(jobs, command, context));
    replies.set(command, outcome ?? { type: "deferred" });
  }
  await writeJobs(transaction, jobs, context);
  await settleKeys(transaction, fresh, replies);
  return { outcomes: commands.map((command) => replyTo(replies, command)), changed: changedJobs(jobs) };
}

interface LoadedJobs {
  readonly children: NewChildren;
  readonly open: Map<string, OpenJob>;
  /** The commands that would begin or resume a job in a deleted organization. They are rejected. */
  readonly gone: ReadonlySet<Command>;
  /** The commands that need a row which another transaction has locked: the row of a job, an organization, a parent's call, or a tree of jobs. */
  readonly held: ReadonlySet<Command>;
  readonly choices: ReadonlyMap<Command, ChosenVersion>;
  readonly plans: LoadedPlans;
  /** The stored jobs whose version has no plan on this node. */
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
  const childSubmits = submits.filter(isChild);
  const beginnings = commands.filter((command) => command.type === "submit" || command.fact.type === "job.resumed");
  const [organizations, chosen, { locked, held: heldJobs, largeStates }, children] = await Promise.all([
    holdOrganizations(
      transaction,
      beginnings.map(({ organizationId }) => organizationId),
    ),
    chooseVersions(transaction, submits),
    lockJobs(transaction, childSubmits.length === 0 ? facts : [...facts, ...childSubmits], context.maxBytes),
    NewChildren.lock(transaction, context.nodeId, childSubmits),
  ]);
  const { living, claimed } = organizations;
  const heldKeys = new Set(heldJobs.map(keyOf));
  const held = new Set<Command>([
    ...beginnings.filter(({ organizationId }) => claimed.has(organizationId)),
    ...facts.filter((command) => heldKeys.has(keyOf(command))),
    ...childSubmits.filter((command) => heldKeys.has(keyOf(command))),
    ...children.held,
  ]);
  const gone = new Set(beginnings.filter(({ organizationId }) => !living.has(organizationId)));
  const choices = new Map<Command, ChosenVersion>();
  for (const choice of chosen) {
    const command = submits[choice.request];
    if (command !== undefined) choices.set(command, choice);
  }
  const versions = [
    ...submits.flatMap((command) => {
      const versionId = choices.get(command)?.versionId;
      return versionId ? [{ organizationId: command.organizationId, versionId }] : [];
    }),
    ...locked,
  ];
  const plans = await context.plans.load(transaction, versions, (organizationId, ms) =>
    context.turn.notePreparation(organizationId, ms),
  );
  const factsByJob = Map.groupBy(facts, keyOf);
  const neededOf = (job: LockedJob) => {
    const ofJob = factsByJob.get(keyOf(job))?.map(({ fact }) => fact) ?? [];
    const plan = plans.plans.get(job.versionId);
    return plan === undefined ? [] : numbersOf(job, branchesLookedInto(plan, unreadState(job), ofJob, context.now));
  };
  const open = new Map<string, OpenJob>();
  const parked = new Map<string, Parked>();
  const { maxBytes, turn } = context;
  const noteBytes = (organizationId: string, bytes: number) => turn.noteBytes(organizationId, bytes);
  // The bytes count twice, because a state that is read is also written again.
  for (const { organizationId, bytes } of largeStates) noteBytes(organizationId, 2 * bytes);
  const bounds = { maxBytes, reasonCount: facts.length, noteBytes };
  for (const { job, values } of await openValues(transaction, locked, neededOf, bounds, context.recentValues)) {
    const plan = plans.plans.get(job.versionId);
    const failure = plans.parked.get(job.versionId);
    if (plan !== undefined) open.set(keyOf(job), newlyOpened(job, plan, values, job));
    else if (failure !== undefined) parked.set(keyOf(job), failure);
  }
  const [keptEvents] = await Promise.all([
    loadUnlistedEvents(transaction, facts, open),
    loadPayloads(transaction, factsByJob, open, context.maxBytes),
    loadResults(transaction, factsByJob, open),
  ]);
  return { children, open, gone, held, choices, plans, parked, keptEvents, audited: [] };
}

/** Loads payloads of events. Mostly it reads nothing: it asks the store only if a job holds events which a wait may read in this batch. */
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

/** Loads the results of branches. They are needed only when all branches of a fork have ended, to make the list of their results. */
async function loadResults(
  transaction: Transaction,
  factsByJob: ReadonlyMap<string, readonly FactCommand[]>,
  open: ReadonlyMap<string, OpenJob>,
): Promise<void> {
  for (const [key, opened] of open) {
    const facts = factsByJob.get(key)?.map(({ fact }) => fact) ?? [];
    const range = resultsToRead(opened.job, facts);
    if (range === undefined) continue;
    const rows = await readValueRange(transaction, opened.job, range);
    opened.results = new Map(rows.map(({ valueNumber, text }) => [valueNumber, JSON.parse(text) as BranchResult]));
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
  if (isChild(command)) return applyChild(jobs, command, context);
  return command.type === "submit" ? applySubmit(jobs, command, context) : applyFact(jobs, command, context);
}

/** Makes a child, or continues the child that an earlier attempt of the parent's step has made. */
function applyChild(jobs: LoadedJobs, command: ChildCommand, context: BatchContext): Outcome {
  const { children } = jobs;
  const { organizationId, origin } = command;
  const parent = jobs.open.get(keyOf({ organizationId, jobId: origin.parent.jobId }));
  if (!children.isWanted(command, parent?.job)) return { type: "rejected", error: new CallIsOverError() };
  const opened = jobs.open.get(keyOf(command));
  const parked = jobs.parked.get(keyOf(command));
  if (parked !== undefined) return rejectedAsParked(parked);
  if (opened === undefined && !children.hasRoom(command, context.maxDescendantsPerJob)) {
    return { type: "rejected", error: new TooManyChildrenError(context.maxDescendantsPerJob) };
  }
  const outcome =
    opened === undefined ? applySubmit(jobs, command, context) : goOnWithChild(jobs, opened, command, context);
  if (outcome.type !== "done") return outcome;
  if (opened === undefined) children.addMade(command);
  // A child that had succeeded before sends no new notice. In that case the node itself reports the child's output.
  if (origin.isAwaited && outcome.entries.length > 0) children.handOver(command);
  return outcome;
}

function goOnWithChild(jobs: LoadedJobs, opened: OpenJob, command: ChildCommand, context: BatchContext): Outcome {
  if (jobs.gone.has(command)) return { type: "rejected", error: notFound("job") };
  const { call, isAwaited } = command.origin;
  const fact = { type: "parent.called", at: context.now, epoch: isAwaited ? call.epoch : undefined } as const;
  const change = decided(() => transition(opened.plan, opened.job, fact, context.limits));
  return "error" in change ? change : applied(jobs, opened, change, command, context);
}

/**
 * Runs the state machine for one command. A defect on one job must not keep the other jobs of the batch from being committed. Nothing is changed
 * until the state machine has answered.
 */
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
  const { organizationId, jobId, workflowId, choice, input, submittedBy, origin } = command;
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
    ...(origin !== undefined && {
      madeBy: { ...origin.parent, epoch: origin.isAwaited ? origin.call.epoch : undefined },
    }),
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
  const change = decided(() =>
    transition(opened.plan, opened.job, fact, context.limits, opened.payloads, opened.results),
  );
  if ("error" in change) return change;
  if (change.verdict.type === "rejected") {
    const { code, detail, problems = [], isPassing = false } = change.verdict;
    const retryAfterSeconds = isPassing ? crowdedJobRetrySeconds : fullJobRetrySeconds;
    const retry = code === "RateLimitError" ? { retryAfterSeconds } : {};
    return { type: "rejected", error: new ServiceError(code, detail, { problems, ...retry }) };
  }
  return applied(jobs, opened, change, command, context);
}

/** The pause before a retry when the job has the maximum number of events. The job frees no room by itself, so an early retry is useless. */
const fullJobRetrySeconds = 3_600;
/** The pause before a retry when the job keeps the maximum of events for later waits. Its next wait may make room. */
const crowdedJobRetrySeconds = 5;

function timed(jobs: LoadedJobs, opened: OpenJob, command: FactCommand, at: Timestamp): Fact {
  const { fact } = command;
  if (fact.type !== "event.received") return { ...fact, at };
  const keptBefore = jobs.keptEvents.get(`${keyOf(command)} ${fact.eventId}`);
  const keptNow = opened.events.find(
    (change) => change.type === "kept" && change.outcome === "unmatched" && change.eventId === fact.eventId,
  )?.eventNumber;
  return { ...fact, at, keptAs: keptBefore ?? keptNow ?? null };
}

function applied(jobs: LoadedJobs, opened: OpenJob, change: Change, command: Command, context: BatchContext): Outcome {
  opened.job = change.job;
  opened.entries.push(...change.entries);
  opened.events.push(...change.events);
  opened.values.addResults(change.results);
  opened.payloadBytes += payloadBytesOf(command, change.events);
  // A wait later in this batch may read these payloads, which are not in the store yet.
  for (const event of change.events) {
    if (event.type !== "kept" || event.payload === undefined) continue;
    opened.payloads.set(event.eventNumber, { value: event.payload });
  }
  opened.effects.push(...change.effects);
  // A new call of the parent, later in the same batch, withdraws the notice to the parent's earlier call. No other change does, not even a resume.
  if (change.notice !== undefined || isAwaited(change.job)) opened.notice = change.notice;
  if (command.type === "fact" && "by" in command.fact && command.fact.by === "job") opened.told.add(command.fact.epoch);
  if (command.audit !== undefined && change.entries.length > 0) {
    const { organizationId, audit } = command;
    jobs.audited.push({ organizationId, entryId: newId(context.now), recordedAt: context.now, ...audit });
  }
  return { type: "done", answer: command.answer(opened.job, change.verdict), job: opened.job, entries: change.entries };
}

/** Whether a call of the parent waits for the job. That call must get a notice when the job ends. */
function isAwaited({ state }: Job): boolean {
  return "progress" in state && state.progress.awaitedBy !== undefined;
}

/** Writes the changes of a batch. No statement needs the answer of another, so all of them are sent to the store together. */
async function writeJobs(transaction: Transaction, jobs: LoadedJobs, context: BatchContext): Promise<void> {
  const changed = changedJobs(jobs);
  const events = [...jobs.open.values()].filter((opened) => opened.events.length > 0);
  const counts = new CommitCounts();
  const history = changed.map((opened) => counts.countHistory(opened));
  const touched = changed.map(written);
  const calls = settleCalls(changed, context);
  for (const opened of changed) opened.notices = noticesOf(opened);
  const notices = changed.flatMap((opened) => opened.notices);
  for (const [index, opened] of changed.entries()) {
    const bytes = counts.countStoredBytes(opened, history[index] ?? "", context.now);
    if (bytes > smallBytes) context.turn.noteBytes(opened.job.organizationId, bytes);
  }
  const [handed] = await Promise.all([
    writeCalls(transaction, { nodeId: context.nodeId, readyAt: context.now }, calls),
    insertJobs(
      transaction,
      touched.flatMap(({ before, after }) => (before === undefined ? [after] : [])),
    ),
    updateJobs(
      transaction,
      touched.flatMap(({ before, after }) => (before === undefined ? [] : [{ before, after }])),
    ),
    insertHistory(
      transaction,
      { commitId: context.commitId, committedAt: context.now },
      organizationsOf(changed.map(({ job }) => job)),
      history,
    ),
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
    jobs.children.write(transaction),
    insertNotices(transaction, { nodeId: context.nodeId, at: context.now }, notices),
  ]);
  noteHandedTasks(changed, handed, context);
}

/** When a batch adds no more bytes than this for a job, `noteBytes` is not told of them. For most jobs, a batch adds fewer. */
const smallBytes = 10_000;

function changedJobs(jobs: LoadedJobs): OpenJob[] {
  return [...jobs.open.values()].filter((opened) => opened.entries.length > 0);
}

function rejectedAsParked(parked: Parked | undefined): Outcome {
  if (parked === undefined) throw new Error("A version has neither a plan nor a reason for having none.");
  return { type: "rejected", error: versionUnreadable(parked) };
}

function keyOf(key: JobKey): string {
  return `${key.organizationId} ${key.jobId}`;
}
