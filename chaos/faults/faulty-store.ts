import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import type { openStore } from "@stepwell/server";

/**
 * Defects of a store. A check that has never failed proves nothing, so a campaign must find each of these defects. `no-sync` is an exception: only a
 * power cut would show it, because the operating system keeps what a killed process has written.
 */
export const faults = [
  "answer-before-commit",
  "no-sync",
  "replay-without-key",
  "task-given-twice",
  "lost-worker-forgotten",
  "end-of-child-forgotten",
  "child-left-alone",
] as const;
export type Fault = (typeof faults)[number];

type Database = Awaited<ReturnType<typeof openStore>>;
type Queryable = Pick<Database, "query">;
type TransactionOptions = Parameters<Database["transaction"]>[1];

/** Puts a fault between the service and its store. */
export function withFault(database: Database, fault: Fault): Database {
  switch (fault) {
    case "answer-before-commit":
      return answeringBeforeCommit(database);
    case "no-sync":
      // The database itself gets no fault: here the defect is in the disk, and `breakSync` plants it before the store is opened.
      return database;
    case "replay-without-key":
      return forgettingKeys(database);
    case "task-given-twice":
      return answeringOtherwise(database, ["take_tasks"], (rows) => rows.flatMap((row) => [row, row]));
    case "lost-worker-forgotten":
      return answeringOtherwise(database, ["find_lost_tasks"], () => []);
    case "end-of-child-forgotten":
      return answeringOtherwise(database, noticeStatements, (notices) => notices.filter(isForChild));
    case "child-left-alone":
      return answeringOtherwise(database, noticeStatements, (notices) => notices.filter((one) => !isForChild(one)));
  }
}

const noticeStatements = ["find_job_notices", "find_job_notices_in_turn"];

/** A notice to a parent has an outcome: how the child ended. A notice to a child has none, and only says that its parent does not wait any more. */
function isForChild(notice: unknown): boolean {
  return (notice as { readonly outcome: unknown }).outcome === null;
}

/** Replaces the function that waits for the disk by one that does nothing. So the store seems to have a disk that confirms data before writing it. */
export function breakSync(): void {
  fs.fdatasyncSync = () => {};
  // This makes the change visible to modules that imported the function by its name.
  syncBuiltinESMExports();
}

/**
 * Returns a store that answers a transaction before it is committed, while its changes can still be lost. All other queries and transactions of the
 * engine wait for the commit, so they do not notice the defect. The other lanes of a PostgreSQL store do not wait: a request can notice
 * there that a job does not exist yet.
 */
function answeringBeforeCommit(database: Database): Database {
  let underWay: Promise<unknown> = Promise.resolve();
  return {
    ...database,
    async query(statement, values) {
      await underWay;
      return await database.query(statement, values);
    },
    async transaction<Result>(
      work: (transaction: Queryable) => Promise<Result>,
      options?: TransactionOptions,
    ): Promise<Result> {
      const before = underWay;
      return await new Promise<Result>((resolve, reject) => {
        underWay = before
          .then(() =>
            database.transaction(async (transaction) => {
              const result = await work(transaction);
              resolve(result);
              await delay(answeredTooEarlyMs);
              return result;
            }, options),
          )
          .catch(reject);
      });
    },
  };
}

const answeredTooEarlyMs = 20;

/** Changes the rows that the store returns for these statements. */
function answeringOtherwise(
  database: Database,
  names: readonly string[],
  alter: (rows: unknown[]) => unknown[],
): Database {
  return {
    ...database,
    async query<Row>(statement: Parameters<Queryable["query"]>[0], values: readonly unknown[]): Promise<Row[]> {
      const rows = await database.query(statement, values);
      return (names.includes(statement.name) ? alter(rows) : rows) as Row[];
    },
  };
}

/** Every claim of an idempotency key succeeds, as if the key had never been used. */
function forgettingKeys(database: Database): Database {
  return {
    ...database,
    transaction: (work, options) =>
      database.transaction(
        (transaction) =>
          work({
            async query<Row>(statement: Parameters<Queryable["query"]>[0], values: readonly unknown[]): Promise<Row[]> {
              const isClaim = statement.name === "claim_idempotency_keys";
              return (isClaim ? freshClaims(String(values[0])) : await transaction.query(statement, values)) as Row[];
            },
          }),
        options,
      ),
  };
}

function freshClaims(json: string): unknown[] {
  const claims = JSON.parse(json) as Record<
    "organization_id" | "idempotency_key" | "request_hash" | "claim_id",
    string
  >[];
  return claims.map((claim) => ({
    organizationId: claim.organization_id,
    idempotencyKey: claim.idempotency_key,
    requestHash: Buffer.from(claim.request_hash.replace("\\x", ""), "hex"),
    claimId: claim.claim_id,
    answer: null,
  }));
}
