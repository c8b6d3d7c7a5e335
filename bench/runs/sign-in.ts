import { setTimeout as sleep } from "node:timers/promises";
import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { Connection } from "../connection.ts";
import { RequestWriter, requireStatus } from "../requests.ts";
import { median, percentile, rounded } from "../samples.ts";
import { startTarget, type Target } from "../target/target.ts";

export interface SignInSize {
  /** The number of reads that are measured while no user signs in, and again while passwords are checked. */
  readonly reads: number;
  /** The number of passwords that are waiting for their check at any moment. */
  readonly concurrency: number;
}

export interface SignInResult {
  readonly bench: "sign-in";
  readonly store: StoreKind;
  readonly concurrency: number;
  readonly reads: number;
  /** The time of GetJob while no user signs in. */
  readonly aloneP50Ms: number;
  readonly aloneP99Ms: number;
  /** The time of GetJob while `concurrency` passwords wait for their check. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly passwordsPerSecond: number;
  readonly passwordP50Ms: number;
  readonly passwordP99Ms: number;
}

const readers = 20;
/** Each reader asks at most 20 times a second. 400 reads a second are far below what the machine can do, so the reads alone cause no waiting. */
const pauseMs = 50;

/**
 * Measures how much the check of passwords slows the requests of others. Each check is a StartSecondFactor with the right password. Like a sign-in,
 * it counts the attempt, computes one hash and takes the count back, but it has no redirects as in a browser.
 */
export async function runSignInBench(
  homes: StoreHomes,
  size: SignInSize,
  runs: number,
  progress: (line: string) => void,
): Promise<SignInResult> {
  const results: SignInResult[] = [];
  for (let run = 1; run <= runs; run += 1) {
    const result = await measure(homes, size);
    results.push(result);
    progress(
      `sign-in ${run}/${runs}: reads p99 ${result.aloneP99Ms} ms alone, ${result.p99Ms} ms beside ${result.passwordsPerSecond} passwords/s`,
    );
  }
  const middle = median(results.map(({ p99Ms }) => p99Ms));
  const found = results.find(({ p99Ms }) => p99Ms === middle);
  if (found === undefined) throw new Error("Nothing was measured.");
  return found;
}

async function measure(homes: StoreHomes, { reads, concurrency }: SignInSize): Promise<SignInResult> {
  const home = await homes.fresh();
  const target = await startTarget(home);
  const reading = await Connection.openMany(target.port, readers);
  await readJobs(target, reading, Math.ceil(reads / 10));
  const alone = await readJobs(target, reading, reads);

  const signingIn = await Connection.openMany(target.port, concurrency);
  const checks = new PasswordChecks(target, signingIn);
  const beside = await readJobs(target, reading, reads);
  const { latenciesMs, seconds } = await checks.stop();
  for (const connection of [...reading, ...signingIn]) connection.close();
  await target.service.stop();
  await home.discard();
  return {
    bench: "sign-in",
    store: homes.kind,
    concurrency,
    reads,
    aloneP50Ms: rounded(percentile(alone, 50)),
    aloneP99Ms: rounded(percentile(alone, 99)),
    p50Ms: rounded(percentile(beside, 50)),
    p99Ms: rounded(percentile(beside, 99)),
    passwordsPerSecond: Math.round(latenciesMs.length / seconds),
    passwordP50Ms: rounded(percentile(latenciesMs, 50)),
    passwordP99Ms: rounded(percentile(latenciesMs, 99)),
  };
}

async function readJobs(
  { organizationId, jobId, requests }: Target,
  connections: readonly Connection[],
  count: number,
): Promise<Float64Array> {
  const read = Buffer.from(requests.get(`/organizations/${organizationId}/jobs/${jobId}`));
  const latenciesMs = new Float64Array(count);
  let next = 0;
  await Promise.all(
    connections.map(async (connection, index) => {
      // The readers do not all begin at the same moment, but one after the other.
      await sleep((pauseMs * index) / connections.length);
      while (next < count) {
        const place = next;
        next += 1;
        const startedAt = performance.now();
        requireStatus(await connection.ask(read), 200);
        latenciesMs[place] = performance.now() - startedAt;
        await sleep(pauseMs);
      }
    }),
  );
  return latenciesMs;
}

/** Asks for checks of passwords over all connections at the same time, until `stop` is called. Each connection sends one request after the other. */
class PasswordChecks {
  readonly #latenciesMs: number[] = [];
  readonly #startedAt = performance.now();
  readonly #done: Promise<unknown>;
  #isStopping = false;

  constructor({ port, token, password }: Target, connections: readonly Connection[]) {
    const check = Buffer.from(new RequestWriter(port, token).post("/account/second-factor", { password }));
    this.#done = Promise.all(connections.map((connection) => this.#checkAgainAndAgain(connection, check)));
    this.#done.catch(() => {});
  }

  async stop(): Promise<{ readonly latenciesMs: Float64Array; readonly seconds: number }> {
    this.#isStopping = true;
    await this.#done;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    return { latenciesMs: Float64Array.from(this.#latenciesMs), seconds };
  }

  async #checkAgainAndAgain(connection: Connection, check: Buffer): Promise<void> {
    while (!this.#isStopping) {
      const startedAt = performance.now();
      requireStatus(await connection.ask(check), 200);
      this.#latenciesMs.push(performance.now() - startedAt);
    }
  }
}
