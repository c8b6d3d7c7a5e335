import { randomUUID } from "node:crypto";
import type { StoreHome } from "@stepwell/testing/stores.ts";
import { readConfig } from "../../../src/config.ts";
import { currentLanguage } from "../../../src/core/definition/language.ts";
import { type CallName, callNameOf } from "../../../src/core/job/call.ts";
import type { CallEffect, UntimedFact } from "../../../src/core/job/fact.ts";
import type { PlainEntry } from "../../../src/core/job/history.ts";
import type { Job } from "../../../src/core/job/job-state.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { ServiceError } from "../../../src/core/service-error.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import { ChildMaker } from "../../../src/engine/children/child-maker.ts";
import type { ChangedJob } from "../../../src/engine/commit/batch.ts";
import { GroupCommit } from "../../../src/engine/commit/group-commit.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { newId } from "../../../src/engine/identifier.ts";
import { jobNoticesDuty } from "../../../src/engine/maintenance/job-notices.ts";
import { lostTasksDuty } from "../../../src/engine/maintenance/lost-tasks.ts";
import { DatabaseClock } from "../../../src/engine/node/clock.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { JobReader } from "../../../src/engine/reading/job-reader.ts";
import { RecentJobs } from "../../../src/engine/reading/recent-jobs.ts";
import { openStore } from "../../../src/open-store.ts";
import { insertOrganization } from "../../../src/store/access/organizations.ts";
import type { Database, Statement } from "../../../src/store/home/database.ts";
import { type CallRow, findCalls, findOrphanedCalls, takeOverCalls } from "../../../src/store/jobs/job-calls.ts";
import type { JobKey } from "../../../src/store/jobs/jobs.ts";
import { findDueJobs, findTimedOutJobs } from "../../../src/store/jobs/timers.ts";
import { setTag } from "../../../src/store/workflows/tags.ts";
import { insertVersion } from "../../../src/store/workflows/versions.ts";
import { deleteWorkflow, insertWorkflow } from "../../../src/store/workflows/workflows.ts";
import { limits, startedAt } from "../../core/interleaving/runs.ts";
import { type StepSketch, someone, textOf } from "../../core/job/jobs.ts";
import { happening, keyed, submission } from "../commands.ts";
import { commitSettings } from "../commit/commit-settings.ts";
import { dying, NodeDied } from "../node/mortal-nodes.ts";

/** The ways of running a scenario. The tree of jobs must do the same in each of them. */
export const ways = [
  "by one node",
  "by another node after every commit",
  "with every notice and outcome twice",
] as const;
export type Way = (typeof ways)[number];

const made = { createdBy: someone, createdAt: startedAt };
const config = readConfig({});
const executors = executorCatalog(config);

/** What happens to the node that makes one change. */
export interface Fate {
  /** Whether another node made the same change first, but died before it committed. */
  readonly isLostFirst: boolean;
  /** Whether the change, with every notice in it, is made twice. */
  readonly isTwice: boolean;
  /** Whether the node dies after it has committed. */
  readonly isReplaced: boolean;
}

/** The choices that a scenario leaves open. */
export interface Chance {
  readonly fate: () => Fate;
  /** Picks a number from 0 up to `count` (exclusive). */
  readonly pick: (count: number) => number;
}

const fates: Readonly<Record<Way, Fate>> = {
  "by one node": { isLostFirst: false, isTwice: false, isReplaced: false },
  "by another node after every commit": { isLostFirst: true, isTwice: false, isReplaced: true },
  "with every notice and outcome twice": { isLostFirst: false, isTwice: true, isReplaced: false },
};

/** Makes choices that give each change the same fate and always pick the first option. */
export function chanceOf(way: Way): Chance {
  return { fate: () => fates[way], pick: () => 0 };
}

/** The steps of each workflow, and the timeout of its jobs. */
export type Workflows = Readonly<
  Record<string, readonly StepSketch[] | { readonly steps: readonly StepSketch[]; readonly timeoutSeconds: number }>
>;

/**
 * The results of functions, by workflow and step: one for each attempt, and the last one for all later attempts. "never" means that no answer comes.
 */
export type Answers = Readonly<Record<string, readonly (JsonValue | "never" | { readonly fails: string })[]>>;

interface Owed {
  readonly job: Job;
  readonly effect: CallEffect;
}

interface Member {
  readonly nodeId: string;
  readonly commit: GroupCommit;
  readonly maker: ChildMaker;
  readonly plans: Plans;
  readonly owed: Owed[];
}

export interface SeenJob {
  readonly key: JobKey;
  readonly job: Job;
  readonly entries: readonly PlainEntry[];
  readonly calls: readonly CallRow[];
}

export interface SeenFamily {
  readonly jobs: readonly SeenJob[];
  readonly childIds: readonly string[];
  readonly trees: readonly { readonly jobId: string; readonly count: number }[];
  readonly noticeCount: number;
}

/** A tree of jobs over one store. Nodes without an HTTP interface move it from commit to commit. */
export class Family {
  readonly #database: Database;
  readonly #organizationId = randomUUID();
  readonly #chance: Chance;
  readonly #answers: Answers;
  readonly #answered = new Map<string, number>();
  readonly #stuck = new Set<string>();
  #now: Timestamp = startedAt;
  #fate: Fate;
  /** How often a child must still be rejected because its organization has reached its submit rate limit. */
  #fullMinutes = 0;
  #node: Member;

  private constructor(database: Database, chance: Chance, answers: Answers) {
    this.#database = database;
    this.#chance = chance;
    this.#fate = chance.fate();
    this.#answers = answers;
    this.#node = this.#member(randomUUID());
  }

  static async found(
    database: Database,
    chance: Chance,
    workflows: Workflows,
    answers: Answers,
    fullMinutes = 0,
  ): Promise<Family> {
    const family = new Family(database, chance, answers);
    family.#fullMinutes = fullMinutes;
    await family.#register(workflows);
    return family;
  }

  async #register(workflows: Workflows): Promise<void> {
    const organizationId = this.#organizationId;
    await this.#database.transaction((transaction) =>
      insertOrganization(transaction, { organizationId, name: organizationId, displayName: "", ...made }),
    );
    for (const [name, workflow] of Object.entries(workflows)) await this.deploy(name, workflow);
  }

  /** Gives the workflow a version to which `$LIVE` points from now on. A workflow that does not exist is registered first. */
  async deploy(name: string, workflow: Workflows[string]): Promise<void> {
    const organizationId = this.#organizationId;
    const [known, versionId] = [this.#workflowIds.get(name), randomUUID()];
    const workflowId = known ?? randomUUID();
    this.#workflowIds.set(name, workflowId);
    const { steps, ...more } = "steps" in workflow ? workflow : { steps: workflow };
    const version = { language: currentLanguage, workflowId, versionId, definition: textOf(steps, {}, more), ...made };
    await this.#database.transaction(async (transaction) => {
      if (known === undefined) await insertWorkflow(transaction, { organizationId, workflowId, name, ...made });
      const versionNumber = await insertVersion(transaction, organizationId, version);
      const tagged = { tag: "$LIVE", workflowId, versionId, versionNumber };
      await setTag(transaction, organizationId, { ...tagged, updatedBy: someone, updatedAt: startedAt });
    });
  }

  async deleteWorkflow(name: string): Promise<void> {
    const workflowId = this.#workflowIds.get(name) ?? "";
    await deleteWorkflow(this.#database, { organizationId: this.#organizationId, workflowId }, this.#now);
  }

  readonly #workflowIds = new Map<string, string>();

  /** Submits a job of the workflow. Submitting the same workflow again repeats the first request. */
  async submit(workflow: string, input: JsonObject = {}): Promise<JobKey> {
    const workflowId = this.#workflowIds.get(workflow) ?? "";
    const command = submission(
      { newId: () => newId(startedAt) },
      { organizationId: this.#organizationId, workflowId },
      { input, submittedBy: someone, ...keyed(workflow) },
    );
    const { answer } = await this.#node.commit.commit(command);
    return { organizationId: this.#organizationId, jobId: String(answer.jobId) };
  }

  /**
   * Cancels or resumes the job. If that is not possible, the job stays as it is. In both cases, each call of the family that had no answer now gets its
   * next answer.
   */
  async tell(key: JobKey, act: "cancel" | "resume"): Promise<void> {
    for (const place of this.#stuck) this.#answered.set(place, (this.#answered.get(place) ?? 0) + 1);
    this.#stuck.clear();
    const type = act === "cancel" ? "job.cancelled" : "job.resumed";
    await this.#change((node) => this.#report(node, key, { type, by: someone }));
  }

  /** Carries out calls, delivers notices and lets timers fire, until nothing more happens by itself. */
  async settle(): Promise<void> {
    for (let round = 0; round < 500; round += 1) if (!(await this.move())) return;
    throw new Error("The jobs do not come to rest.");
  }

  /** Lets one thing happen by itself. Returns false if nothing is left to happen. */
  async move(): Promise<boolean> {
    const [calls, words, timers] = [() => this.#moveCalls(), () => this.#moveWords(), () => this.#moveTimers()];
    const isImpatient = this.#chance.pick(8) === 7;
    const first = this.#chance.pick(2) === 0 ? [calls, words] : [words, calls];
    for (const move of isImpatient ? [timers, ...first] : [...first, timers]) if (await move()) return true;
    return false;
  }

  /**
   * Lists every job of the tree, one level after the other, each level in the order of its branches: the workflow, the status, and the output or the
   * error's code and type.
   */
  async jobs(): Promise<(readonly [string, string, unknown?])[]> {
    const reader = this.#reader();
    const keys = await this.keys();
    const all = await Promise.all(keys.map((key) => reader.read(key)));
    return all.flatMap((whole) => {
      if (whole === undefined) return [];
      const { workflowName, state } = whole.job;
      const outcome = state.status === "FAILED" ? `${state.error.code} ${state.error.type ?? ""}`.trim() : whole.output;
      const shown = outcome === undefined ? undefined : (JSON.parse(JSON.stringify(outcome)) as JsonValue);
      return [shown === undefined ? ([workflowName, state.status] as const) : [workflowName, state.status, shown]];
    });
  }

  async read({ jobId }: { jobId: string }) {
    return await this.#reader().read({ organizationId: this.#organizationId, jobId });
  }

  async keys(): Promise<JobKey[]> {
    const text = `SELECT organization_id AS "organizationId", job_id AS "jobId" FROM job
      WHERE organization_id = $1 ORDER BY (parent ->> 'depth')::integer NULLS FIRST, parent ->> 'branch', workflow_name`;
    return await this.#database.query(said<JobKey>(text), [this.#organizationId]);
  }

  /** Reads the jobs of the family with their histories and calls, and what the store has of its children, trees and notices. */
  async look(): Promise<SeenFamily> {
    const reader = this.#reader();
    const keys = await this.keys();
    const jobs = await Promise.all(
      keys.map(async (key): Promise<SeenJob> => {
        const [whole, history, calls] = await Promise.all([
          reader.read(key),
          reader.readHistory(key, { after: 0, limit: 10_000 }),
          findCalls(this.#database, key),
        ]);
        if (whole === undefined || history === undefined) throw new Error(`There is no job ${key.jobId}.`);
        return { key, job: whole.job, entries: history.rows, calls };
      }),
    );
    const ask = <Row>(text: string) => this.#database.query(said<Row>(text), [this.#organizationId]);
    const [children, trees, notices] = await Promise.all([
      ask<{ jobId: string }>(`SELECT job_id AS "jobId" FROM child_job WHERE organization_id = $1 ORDER BY job_id`),
      ask<{ jobId: string; count: number }>(
        `SELECT root_job_id AS "jobId", descendant_count AS count FROM job_tree WHERE organization_id = $1`,
      ),
      ask<{ jobId: string }>(`SELECT job_id AS "jobId" FROM job_notice WHERE organization_id = $1`),
    ]);
    return { jobs, childIds: children.map(({ jobId }) => jobId), trees, noticeCount: notices.length };
  }

  /** Counts what is left in the store: calls, and notices that are not delivered yet. */
  async leftovers(): Promise<number> {
    const text =
      "SELECT (SELECT count(*) FROM job_call WHERE organization_id = $1) + (SELECT count(*) FROM job_notice WHERE organization_id = $1) AS count";
    const [row] = await this.#database.query(said<{ count: number }>(text), [this.#organizationId]);
    return Number(row?.count);
  }

  #reader(): JobReader {
    return new JobReader({ database: this.#database, recent: new RecentJobs(), isAlone: false });
  }

  async #moveCalls(): Promise<boolean> {
    while (this.#node.owed.length > 0) {
      const [owed] = this.#node.owed.splice(this.#chance.pick(this.#node.owed.length), 1);
      if (owed === undefined) return false;
      if (owed.effect.child === undefined && this.#answerFor(owed) === "never") continue;
      await this.#change((node) => this.#carryOut(node, this.#sameCall(node, owed)));
      this.#countAnswer(owed);
      return true;
    }
    return false;
  }

  /** Finds the call as this node knows it: a node that took the call over makes it again under another epoch. */
  #sameCall(node: Member, { job, effect }: Owed): Owed {
    const isSame = (other: Owed) =>
      other.job.jobId === job.jobId && other.effect.branch === effect.branch && other.effect.step === effect.step;
    const place = node.owed.findIndex(isSame);
    return (place < 0 ? undefined : node.owed.splice(place, 1)[0]) ?? { job, effect };
  }

  async #carryOut(node: Member, owed: Owed): Promise<void> {
    if (owed.effect.child !== undefined) await this.#makeChild(node, owed);
    else await this.#report(node, owed.job, this.#answerTo(owed));
  }

  async #makeChild(node: Member, owed: Owed): Promise<void> {
    const made = await node.maker.make(owed);
    if (made === undefined) return;
    const call = callNameOf(owed.effect);
    const fact: UntimedFact =
      made.type === "succeeded"
        ? { type: "step.succeeded", ...call, output: made.output }
        : { type: "step.failed", ...call, failure: made, random: 0.5 };
    await this.#report(node, owed.job, fact);
  }

  /**
   * Finds the answer to a call. Each call of a job has its own answer, however often it passes to another node. A call with the answer "never" is
   * skipped until somebody cancels or resumes a job of the tree.
   */
  #answerFor({ job, effect }: Owed): Answers[string][number] {
    const answers = this.#answers[`${job.workflowName}.${effect.step}`] ?? [{}];
    const count = this.#answered.get(answerKey(job, effect)) ?? 0;
    const answer = answers[Math.min(count, answers.length - 1)] ?? {};
    if (answer === "never") this.#stuck.add(answerKey(job, effect));
    return answer;
  }

  #countAnswer({ job, effect }: Owed): void {
    if (effect.child !== undefined) return;
    const key = answerKey(job, effect);
    this.#answered.set(key, (this.#answered.get(key) ?? 0) + 1);
  }

  #answerTo(owed: Owed): UntimedFact {
    const call: CallName = callNameOf(owed.effect);
    const answer = this.#answerFor(owed);
    if (typeof answer === "object" && answer !== null && "fails" in answer) {
      const error = { code: "ExecutorError", type: String(answer.fails), message: "no luck" } as const;
      return { type: "step.failed", ...call, failure: { kind: "permanent", error }, random: 0.5 };
    }
    return { type: "step.succeeded", ...call, output: answer as JsonValue };
  }

  async #moveWords(): Promise<boolean> {
    let count = 0;
    const deliver = async (node: Member) => {
      await jobNoticesDuty({
        database: this.#database,
        nodeId: node.nodeId,
        everyMs: 1_000,
        lateMs: -60_000,
        maxBytes: config.maxBatchBytes,
        maxRoundMs: Number.POSITIVE_INFINITY,
        report: async (key, fact) => {
          if (key.organizationId !== this.#organizationId) throw new ServiceError("UnavailableError", "Another's.");
          count += 1;
          await this.#report(node, key, fact);
          if (this.#fate.isTwice) await this.#report(node, key, fact);
        },
        random: () => 0.5,
      }).runOnce();
    };
    await this.#change(deliver, () => count > 0);
    return count > 0;
  }

  async #moveTimers(): Promise<boolean> {
    const until = this.#now + 60_000;
    const found = await Promise.all([
      findDueJobs(this.#database, until, 10_000),
      findTimedOutJobs(this.#database, until, { versionIds: [], jobIds: [], organizationIds: [] }, 10_000),
    ]);
    const due = found.flat().find(({ organizationId }) => organizationId === this.#organizationId);
    if (due === undefined && (await this.#timedOutCount(until)) === 0) return false;
    this.#now = until;
    await this.#change((node) =>
      due === undefined ? this.#timeOut(node) : this.#report(node, due, { type: "timer.due" }),
    );
    return true;
  }

  async #timedOutCount(until: Timestamp): Promise<number> {
    const text = "SELECT count(*) AS count FROM job_call WHERE organization_id = $1 AND timeout_at <= $2::timestamptz";
    const [row] = await this.#database.query(said<{ count: number }>(text), [
      this.#organizationId,
      new Date(until).toISOString(),
    ]);
    return Number(row?.count);
  }

  /**
   * Runs the duty for lost tasks at the database's own time, at which every call with a timeout has timed out. Reports only the calls that have timed
   * out by the test's time.
   */
  async #timeOut(node: Member): Promise<void> {
    await lostTasksDuty({
      database: this.#database,
      nodeId: node.nodeId,
      everyMs: 1_000,
      plans: node.plans,
      report: async (key, fact) => {
        if (key.organizationId !== this.#organizationId || !("epoch" in fact)) return false;
        const call = (await findCalls(this.#database, key)).find(({ epoch }) => epoch === fact.epoch);
        if (call === undefined || call.timeoutAt === null || call.timeoutAt > this.#now) return false;
        await this.#report(node, key, fact);
        return true;
      },
      onLost: () => {},
      random: () => 0.5,
    }).runOnce();
  }

  /** Makes one change with a node that lives, dies before or after it has committed, or makes the change twice. */
  async #change(work: (node: Member) => Promise<unknown>, isDone: () => boolean = () => true): Promise<void> {
    this.#fate = this.#chance.fate();
    if (this.#fate.isLostFirst) {
      await work(this.#member(this.#node.nodeId, true)).catch((error: unknown) => {
        if (!(error instanceof NodeDied || (error instanceof Error && error.cause instanceof NodeDied))) throw error;
      });
      await this.#succeed();
    }
    await work(this.#node);
    if (this.#fate.isTwice && isDone()) await work(this.#node);
    if (this.#fate.isReplaced && isDone()) await this.#succeed();
  }

  /** Replaces the node by a new one, which remembers nothing and takes over the calls of the old node. */
  async #succeed(): Promise<void> {
    const [dead, next] = [this.#node, this.#member(randomUUID())];
    this.#node = next;
    const leftOut = { versionIds: [], jobIds: [], organizationIds: [] };
    const orphans = (await findOrphanedCalls(this.#database, [next.nodeId], leftOut, 10_000)).filter(
      ({ organizationId }) => organizationId === this.#organizationId,
    );
    if (orphans.some(({ nodeId }) => nodeId !== dead.nodeId)) throw new Error("A call is held by a node of long ago.");
    for (const call of await takeOverCalls(this.#database, next.nodeId, dead.nodeId, orphans)) {
      await this.#report(next, call, { type: "step.interrupted", ...callNameOf(call), isNodeDead: false });
    }
  }

  async #report(node: Member, key: JobKey, fact: UntimedFact): Promise<void> {
    await node.commit.commit(happening(key, fact), "engine").catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.code === "ConflictError")) throw error;
    });
  }

  #member(nodeId: string, isDying = false): Member {
    const clock = new DatabaseClock(() => this.#now - startedAt);
    clock.adjust(startedAt, 0, 0);
    const database = isDying ? dying(this.#database) : this.#database;
    const owed: Owed[] = [];
    const plans = new Plans(executors, config);
    const commit = new GroupCommit({
      database,
      clock,
      plans,
      nodeId,
      limits: { ...limits, maxStepRuns: 1_000 },
      ...commitSettings(config),
      onCommitted: (changed: readonly ChangedJob[]) => {
        for (const { job, calls } of changed) owed.push(...calls.map(({ effect }) => ({ job, effect })));
      },
      onDefect: () => {},
    });
    const reader = this.#reader();
    const maker = new ChildMaker({
      database: this.#database,
      commit: (command) => commit.commit(command, "engine"),
      count: async () => {
        if (this.#fullMinutes === 0) return undefined;
        this.#fullMinutes -= 1;
        return 60;
      },
      readJob: (key) => reader.read(key),
    });
    return { nodeId, commit, maker, plans, owed };
  }
}

export async function familyStore(home: StoreHome): Promise<{ database: Database; close: () => Promise<void> }> {
  const { environment, remove } = await home.prepare();
  const database = await openStore(readConfig(environment));
  return {
    database,
    close: async () => {
      await database.close();
      await remove();
    },
  };
}

function answerKey({ jobId }: Job, { branch, step }: CallEffect): string {
  return [jobId, branch, step].join(" ");
}

function said<Row>(text: string): Statement<Row> {
  return { name: text, scope: "organization", text, planned: "each-time" };
}
