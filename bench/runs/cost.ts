import { randomBytes } from "node:crypto";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { StoreHome, StoreHomes } from "@stepwell/testing/processes/store-home.ts";
import { definitionOf } from "@stepwell/testing/processes/workflow.ts";
import { Connection } from "../connection.ts";
import { CostMeter } from "../cost-meter.ts";
import { jobIdIn, requireStatus, requireSuccess } from "../requests.ts";
import { median, rounded } from "../samples.ts";
import { StatementCounter } from "../statement-counter.ts";
import { startTarget, type Target } from "../target/target.ts";
import { smallInput, threeNoops } from "../workflows.ts";

/** What one request costs the store. Each figure is a median. */
export interface CostResult {
  readonly bench: "cost";
  readonly store: "postgres";
  readonly request: string;
  readonly requests: number;
  readonly walBytes: number;
  readonly statements: number;
  readonly ms: number;
}

/**
 * Sends one request at a time, each for a job of its own, so that everything that the store writes meanwhile belongs to this request. Needs a
 * PostgreSQL server.
 */
export async function runCostBench(homes: StoreHomes, count: number): Promise<CostResult[]> {
  const home = await homes.fresh();
  const databaseUrl = home.environment.DATABASE_URL;
  if (databaseUrl === undefined) throw new Error("The bench cost needs --store postgres.");
  const counter = await StatementCounter.before(databaseUrl);
  const through: StoreHome = { ...home, environment: { ...home.environment, DATABASE_URL: counter.url } };
  const target = await startTarget(through);
  const meter = await CostMeter.open(target.service.pid, home);
  const connection = await Connection.open(target.port);
  const results: CostResult[] = [];
  for (const { request, prepare } of costs) {
    const ask = await prepare(target, connection, warmUpCount + count);
    const samples: Sample[] = [];
    for (let index = 0; index < warmUpCount + count; index += 1) {
      samples.push(await measure(meter, counter, () => ask(index)));
    }
    const of = (one: (sample: Sample) => number) => median(samples.slice(warmUpCount).map(one));
    results.push({
      bench: "cost",
      store: "postgres",
      request,
      requests: count,
      walBytes: of(({ walBytes }) => walBytes),
      statements: of(({ statements }) => statements),
      ms: rounded(of(({ ms }) => ms)),
    });
  }
  connection.close();
  await target.service.stop();
  await meter.close();
  await counter.stop();
  await home.discard();
  return results;
}

const warmUpCount = 10;

interface Sample {
  readonly walBytes: number;
  readonly statements: number;
  readonly ms: number;
}

async function measure(meter: CostMeter, counter: StatementCounter, ask: () => Promise<void>): Promise<Sample> {
  const { cost, result } = await meter.measure(async () => {
    const before = counter.count;
    const startedAt = performance.now();
    await ask();
    return { ms: performance.now() - startedAt, statements: counter.count - before };
  });
  return { walBytes: cost.walBytes ?? Number.NaN, ...result };
}

interface Cost {
  readonly request: string;
  /** Prepares `count` requests. Returns the function that sends the request with the number `index`. */
  prepare(target: Target, connection: Connection, count: number): Promise<(index: number) => Promise<void>>;
}

/** The text is random, so that the database cannot compress it. */
const largeInput = { text: randomBytes(690_000).toString("base64") };

const costs: readonly Cost[] = [
  {
    request: "a job of three no-ops",
    prepare: async ({ api, organizationId, requests }, connection) => {
      const workflowId = await registerWorkflow(api, organizationId, threeNoops("cost"));
      const path = `/organizations/${organizationId}/jobs?waitSeconds=30`;
      const submit = requests.post(path, { workflowId, inputJson: smallInput });
      return async () => requireSuccess(await connection.ask(submit));
    },
  },
  event("an event that a job keeps", smallInput, "other"),
  event("an event that ends a wait", smallInput, "approved"),
  event("an event that a job with 900 KB of input keeps", largeInput, "other"),
  event("an event that ends the wait of a job with 900 KB of input", largeInput, "approved"),
];

/** Each job has two waits in turn. The event `approved` ends the first wait, and the job goes on to the second. Any other event is kept. */
function event(request: string, inputJson: object, eventId: string): Cost {
  return {
    request,
    prepare: async ({ api, organizationId, requests }, connection, count) => {
      const properties = Object.fromEntries(Object.entries(inputJson).map(([name, value]) => [name, typeOf(value)]));
      const waits = [
        { name: "first", eventIds: ["approved"] },
        { name: "second", eventIds: ["paid"] },
      ];
      const workflowId = await registerWorkflow(api, organizationId, definitionOf(request, waits, properties));
      const jobs = `/organizations/${organizationId}/jobs`;
      const jobIds: string[] = [];
      while (jobIds.length < count) {
        jobIds.push(jobIdIn(await connection.ask(requests.post(jobs, { workflowId, inputJson }))));
      }
      return async (index) => {
        requireStatus(await connection.ask(requests.post(`${jobs}/${jobIds[index]}/events`, { eventId })), 200);
      };
    },
  };
}

function typeOf(value: unknown): object {
  return { type: typeof value };
}
