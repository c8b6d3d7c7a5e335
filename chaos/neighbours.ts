import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { type FunctionAnswer, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { Api, registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { ServiceProcess } from "@stepwell/testing/processes/service-process.ts";
import {
  openStoreHomes,
  type StoreHome,
  type StoreHomes,
  type StoreKind,
} from "@stepwell/testing/processes/store-home.ts";
import { RequestWriter } from "../bench/requests.ts";
import { oneTimer, oneWait } from "../bench/workflows.ts";
import { readConfig } from "../packages/server/src/config.ts";
import { openStore } from "../packages/server/src/open-store.ts";
import type { Database } from "../packages/server/src/store/home/database.ts";
import type { HostileTenant } from "./neighbours/hostile-tenant.ts";
import { tenants } from "./neighbours/tenants.ts";
import { HostileTraffic } from "./neighbours/traffic.ts";
import { type LoadTask, type Measurement, measure } from "./neighbours/well-behaved.ts";

export interface NeighboursOptions {
  readonly store: StoreKind;
  /** The names of the hostile tenants of this run. */
  readonly tenants: readonly string[];
  readonly seconds: number;
  readonly jobs: number;
  /** Whether to turn off, for each tenant, the part of the service that protects against this tenant. If so, every case must fail. */
  readonly withoutFix: boolean;
  readonly progress: (line: string) => void;
}

/** The figures of the well-behaved organization alone, and beside one hostile tenant. */
export interface NeighbourResult {
  readonly tenant: string;
  readonly alone: Measurement;
  readonly beside: Measurement;
  /** How often the hostile tenant got an answer with each status, and how often one of its connections was lost. */
  readonly hostileAnswers: Readonly<Record<string, number>>;
  readonly passes: boolean;
}

/**
 * Measures one well-behaved organization beside each hostile tenant in turn, each time on a fresh service. The tenant must cause its neighbour no
 * errors. The neighbour's p99 must be at most three times its p99 without the tenant, or 100 ms if that is more. With the protection against
 * the tenant turned off, the case must fail, since a case that cannot fail proves nothing.
 */
export async function playNeighbours(options: NeighboursOptions): Promise<NeighbourResult[]> {
  const homes = await openStoreHomes(options.store);
  const results: NeighbourResult[] = [];
  for (const tenant of tenants) {
    const { name, stores = [options.store] } = tenant;
    if (!options.tenants.includes(name) || !stores.includes(options.store)) continue;
    const result = await playBeside(tenant, homes, options);
    results.push(result);
    for (const line of linesOf(result)) options.progress(line);
  }
  await homes.close();
  return results;
}

async function playBeside(
  tenant: HostileTenant,
  homes: StoreHomes,
  { seconds, jobs, withoutFix, progress }: NeighboursOptions,
): Promise<NeighbourResult> {
  if (withoutFix) progress(`${tenant.name}: plays with this fix turned off: ${tenant.fix.sentence}`);
  const home = await homes.fresh();
  const slow: FunctionAnswer = ({ succeed }) => void setTimeout(succeed, slowMs);
  const functions = await FunctionServer.start({ large: largeAnswers(), slow });
  const program = withoutFix ? [serviceWithoutFix, JSON.stringify(tenant.fix.turnedOffBy)] : undefined;
  const options = { home, port: await findFreePort(), program, environment: functions.environment };
  let service = new ServiceProcess(options);
  const { organizationId, token } = await service.seeded();
  const api = new Api(options.port, token);
  const task = await prepareWellBehaved(api, { port: options.port, organizationId, seconds });
  await measure({ ...task, seconds: warmUpSeconds });
  const alone = await measure(task);

  progress(`${tenant.name}: prepares`);
  const own = await api.post<{ organizationId: string }>("/organizations", { name: "hostile", displayName: "Hostile" });
  const attack = await tenant.prepare({
    port: options.port,
    organizationId: own.organizationId,
    api,
    requests: new RequestWriter(options.port, token),
    functions,
    jobs,
    databaseUrl: home.environment.DATABASE_URL,
    withStore: async (work) => {
      await service.stop();
      await onStore(home, work);
      service = new ServiceProcess(options);
      await service.ready();
    },
  });
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  const traffic = new HostileTraffic(options.port, token, end.signal);
  const attacking = attack(traffic, end.signal);
  await measure({ ...task, seconds: warmUpSeconds });
  const beside = await measure(task);
  end.abort();
  await attacking;
  await service.kill();
  await functions.stop();
  await home.discard();
  return { tenant: tenant.name, alone, beside, hostileAnswers: traffic.counts, passes: passes(alone, beside) };
}

const serviceWithoutFix = fileURLToPath(new URL("./faults/service-without-fix.ts", import.meta.url));
const warmUpSeconds = 3;

function passes(alone: Measurement, beside: Measurement): boolean {
  return beside.p99Ms <= Math.max(3 * alone.p99Ms, 100) && beside.errors === 0;
}

async function prepareWellBehaved(
  api: Api,
  { organizationId, ...rest }: Pick<LoadTask, "port" | "organizationId" | "seconds">,
): Promise<LoadTask> {
  const { token } = await api.post<{ token: string }>(`/organizations/${organizationId}/api-tokens`, {
    name: "well-behaved",
    permissions: ["job:submit", "job:read", "job:event:send"],
  });
  return {
    ...rest,
    organizationId,
    token,
    waitingWorkflowId: await registerWorkflow(api, organizationId, oneWait("waits", "go")),
    timerWorkflowId: await registerWorkflow(api, organizationId, oneTimer("one-second", 1)),
  };
}

/** Each answer has a different text of random characters, which compression makes only a little smaller. */
function largeAnswers(): FunctionAnswer {
  const text = randomBytes(largeBytes).toString("base64").slice(0, largeBytes);
  let count = 0;
  return (call) => {
    count = (count + 1) % largeBytes;
    call.succeed({ text: text.slice(count) + text.slice(0, count) });
  };
}

const largeBytes = 1_000_000;
const slowMs = 30_000;

async function onStore(home: StoreHome, work: (database: Database) => Promise<void>): Promise<void> {
  const environment = { ...home.environment, STEPWELL_DATABASE_TIMEOUT_MS: "600000" };
  const database = await openStore(readConfig(environment));
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

function* linesOf({ tenant, alone, beside, hostileAnswers, passes }: NeighbourResult): Generator<string> {
  yield `${tenant}: ${passes ? "passes" : "FAILS"}; hostile answers ${JSON.stringify(hostileAnswers)}`;
  for (const [when, measured] of Object.entries({ alone, beside })) {
    const { samples, p50Ms, p99Ms, maxMs, p99MsOf, errors, errorTexts, machineBusy } = measured;
    yield `  ${when}: p50 ${p50Ms}, p99 ${p99Ms}, max ${maxMs} ms, ${samples} samples, ${errors} errors, machine ${Math.round(machineBusy * 100)} % busy; p99 of each kind ${JSON.stringify(p99MsOf)}`;
    for (const text of errorTexts) yield `    ${text.slice(0, 300)}`;
  }
}
