import { randomUUID } from "node:crypto";
import type { StoreHome } from "@stepwell/testing/stores.ts";
import { readConfig } from "../../../src/config.ts";
import { currentLanguage } from "../../../src/core/definition/language.ts";
import type { CallName } from "../../../src/core/job/call.ts";
import type { CallEffect, UntimedFact } from "../../../src/core/job/fact.ts";
import type { PlainEntry } from "../../../src/core/job/history.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { ServiceError } from "../../../src/core/service-error.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import type { Command } from "../../../src/engine/commit/command.ts";
import { GroupCommit } from "../../../src/engine/commit/group-commit.ts";
import { executorCatalog } from "../../../src/engine/executors/catalog.ts";
import { newId } from "../../../src/engine/identifier.ts";
import { DatabaseClock } from "../../../src/engine/node/clock.ts";
import { Plans } from "../../../src/engine/plans/plans.ts";
import { JobReader } from "../../../src/engine/reading/job-reader.ts";
import { RecentJobs } from "../../../src/engine/reading/recent-jobs.ts";
import type { TaskOffers } from "../../../src/engine/tasks/task-offers.ts";
import { openStore } from "../../../src/open-store.ts";
import { insertOrganization } from "../../../src/store/access/organizations.ts";
import type { Database, Statement } from "../../../src/store/home/database.ts";
import { type CallRow, findCalls } from "../../../src/store/jobs/job-calls.ts";
import { type JobKey, readJob } from "../../../src/store/jobs/jobs.ts";
import { insertVersion } from "../../../src/store/workflows/versions.ts";
import { insertWorkflow } from "../../../src/store/workflows/workflows.ts";
import { limits, startedAt } from "../../core/interleaving/runs.ts";
import { someone } from "../../core/job/jobs.ts";
import { happening, submission } from "../commands.ts";
import { commitSettings } from "../commit/commit-settings.ts";

const config = readConfig({});
const executors = executorCatalog(config);

/** A registered version, of which jobs can be submitted. */
export interface Registered {
  readonly organizationId: string;
  readonly workflowId: string;
  readonly choice: { readonly by: "versionId"; readonly versionId: string };
}

/** A job as the store has it. */
export interface FoundJob {
  readonly row: NonNullable<Awaited<ReturnType<typeof readJob>>>;
  readonly entries: readonly PlainEntry[];
  readonly calls: readonly CallRow[];
  /** The calls that nodes had to make after the commits. */
  readonly effects: readonly CallEffect[];
  /** The notices to the children for which the job does not wait any more, in the order of its calls. */
  readonly notices: readonly (CallName & { readonly jobId: string })[];
}

/**
 * Nodes without an HTTP interface, over one store and with a clock that the test sets. A node consists of its compiled plans and its queue. A dead
 * node is replaced by a new one that remembers nothing.
 */
export class MortalNodes {
  readonly database: Database;
  readonly #remove: () => Promise<void>;
  readonly #effects = new Map<string, CallEffect[]>();
  #now: Timestamp = startedAt;

  private constructor(database: Database, remove: () => Promise<void>) {
    this.database = database;
    this.#remove = remove;
  }

  static async over(home: StoreHome): Promise<MortalNodes> {
    const { environment, remove } = await home.prepare();
    return new MortalNodes(await openStore(readConfig(environment)), remove);
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.#remove();
  }

  /** Registers the definition in an organization of its own. */
  async register(definition: string): Promise<Registered> {
    const [organizationId, workflowId, versionId] = [randomUUID(), randomUUID(), randomUUID()];
    const made = { createdBy: someone, createdAt: startedAt };
    await this.database.transaction(async (transaction) => {
      await insertOrganization(transaction, { organizationId, name: organizationId, displayName: "", ...made });
      await insertWorkflow(transaction, { organizationId, workflowId, name: "test", ...made });
      await insertVersion(transaction, organizationId, {
        language: currentLanguage,
        workflowId,
        versionId,
        definition,
        ...made,
      });
    });
    return { organizationId, workflowId, choice: { by: "versionId", versionId } };
  }

  async submit(node: GroupCommit, version: Registered, input: JsonObject): Promise<JobKey> {
    this.#now = startedAt;
    const command = submission({ newId: () => newId(startedAt) }, version, {
      choice: version.choice,
      input,
      submittedBy: someone,
    });
    await node.commit(command);
    return { organizationId: version.organizationId, jobId: command.jobId };
  }

  /** Delivers facts in one commit, in their order. Returns the error codes of rejected facts; other errors are thrown, except `NodeDied`. */
  async deliver(node: GroupCommit, key: JobKey, facts: readonly UntimedFact[], at: Timestamp): Promise<string[]> {
    this.#now = at;
    const outcomes = await Promise.allSettled(facts.map((fact) => node.commit(happening(key, fact))));
    return outcomes.flatMap((outcome) => {
      if (outcome.status === "fulfilled" || outcome.reason instanceof NodeDied) return [];
      if (!isRefusal(outcome.reason)) throw outcome.reason;
      return [outcome.reason.code];
    });
  }

  /**
   * Makes another node. With `isDying`, the node does all its work, but dies before any of it is committed. With `offers`, workers wait on the node
   * for tasks.
   */
  node({ hasRoomForCall = true, isDying = false, offers }: NodeSettings = {}): GroupCommit {
    const clock = new DatabaseClock(() => this.#now - startedAt);
    clock.adjust(startedAt, 0, 0);
    return new GroupCommit({
      database: isDying ? dying(this.database) : this.database,
      clock,
      plans: new Plans(executors, config),
      nodeId: randomUUID(),
      limits,
      ...commitSettings(config),
      hasRoomForCall: () => hasRoomForCall,
      ...(offers !== undefined && { offers }),
      onCommitted: (changed) => {
        for (const { job, calls } of changed) {
          const known = this.#effects.get(job.jobId) ?? [];
          this.#effects.set(job.jobId, [...known, ...calls.map(({ effect }) => effect)]);
        }
      },
      // The commands receive the error, and `deliver` throws it.
      onDefect: (_error: unknown, _command: Command) => {},
    });
  }

  async find(key: JobKey): Promise<FoundJob> {
    const { database } = this;
    const reader = new JobReader({ database, recent: new RecentJobs(), isAlone: false });
    const [row, history, calls, notices] = await Promise.all([
      readJob(database, key),
      reader.readHistory(key, { after: 0, limit: 10_000 }),
      findCalls(database, key),
      database.query(noticesOfSender, [key.organizationId, key.jobId]),
    ]);
    if (row === undefined || history === undefined) throw new Error("The store has no such job.");
    return { row, entries: history.rows, calls, effects: this.#effects.get(key.jobId) ?? [], notices };
  }
}

const noticesOfSender: Statement<CallName & { readonly jobId: string }> = {
  name: "notices_of_sender",
  scope: "organization",
  text: `SELECT job_id AS "jobId", branch, step, visit, epoch FROM job_notice WHERE organization_id = $1 AND sender_job_id = $2 ORDER BY epoch`,
  planned: "each-time",
};

interface NodeSettings {
  readonly hasRoomForCall?: boolean;
  readonly isDying?: boolean;
  readonly offers?: () => TaskOffers;
}

export class NodeDied extends Error {}

export function dying(database: Database): Database {
  return {
    ...database,
    groupOf: (organizationId) => database.groupOf(organizationId),
    transaction: (work) =>
      database.transaction(async (transaction) => {
        await work(transaction);
        throw new NodeDied("The node died before it had committed.");
      }),
  };
}

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code !== "UnavailableError";
}
