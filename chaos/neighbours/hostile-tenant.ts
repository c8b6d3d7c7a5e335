import type { FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import type { Api } from "@stepwell/testing/processes/api.ts";
import type { StoreKind } from "@stepwell/testing/processes/store-home.ts";
import type { RequestWriter } from "../../bench/requests.ts";
import type { Database } from "../../packages/server/src/store/home/database.ts";
import type { Replacement } from "../faults/replacement.ts";

/** An organization that puts as much load as it can on the service while a well-behaved one is measured. */
export interface HostileTenant {
  readonly name: string;
  /** The stores on which the tenant runs. Default: every store. */
  readonly stores?: readonly StoreKind[];
  readonly fix: Fix;
  /** Creates everything that the attack needs, before the measurement. */
  prepare(ground: Ground): Promise<Attack>;
}

/** A part of the service without which a hostile tenant harms its neighbour. */
export interface Fix {
  /** Says in one sentence what the fix is. */
  readonly sentence: string;
  /** The changes to the server's sources that turn the fix off. */
  readonly turnedOffBy: readonly Replacement[];
}

/** Sends requests until `end`, mainly through `traffic`, which counts the answers. */
export type Attack = (traffic: Traffic, end: AbortSignal) => Promise<void>;

export interface Traffic {
  /** Sends one request after the other over each of `connectionCount` connections, whatever the answers are. */
  keepAsking(connectionCount: number, next: () => string | Buffer): Promise<void>;
  /** Sends requests whose answers are large or never end, and ignores the content of the answers. */
  keepReading(connectionCount: number, nextPath: () => string): Promise<void>;
}

/** What a hostile tenant works with: a service, and an organization of its own in it. */
export interface Ground {
  readonly port: number;
  readonly organizationId: string;
  /** Calls the API as a user who may do everything in the organization. */
  readonly api: Api;
  readonly requests: RequestWriter;
  /** Answers calls of the function `large` with 1 MB, and those of `slow` after 30 s. */
  readonly functions: FunctionServer;
  /** The number of jobs that the tenant `pending-jobs` creates. */
  readonly jobs: number;
  /** The address of the PostgreSQL server; undefined for the embedded store. */
  readonly databaseUrl: string | undefined;
  /** Stops the service, gives the store to `work`, and starts the service again. */
  withStore(work: (database: Database) => Promise<void>): Promise<void>;
}

/** Returns a function that gives one item after the other, and begins again after the last. */
export function inTurn<Item>(items: readonly Item[]): () => Item {
  let index = -1;
  return () => {
    index = (index + 1) % items.length;
    const item = items[index];
    if (item === undefined) throw new Error("There is nothing to take in turn.");
    return item;
  };
}

export async function submitJobs(
  { api, organizationId }: Ground,
  workflowId: string,
  count: number,
  inputJson: object = {},
): Promise<string[]> {
  const jobIds: string[] = [];
  const submit = () => api.post<{ jobId: string }>(`/organizations/${organizationId}/jobs`, { workflowId, inputJson });
  while (jobIds.length < count) {
    const batch = Array.from({ length: Math.min(16, count - jobIds.length) }, submit);
    for (const { jobId } of await Promise.all(batch)) jobIds.push(jobId);
  }
  return jobIds;
}
