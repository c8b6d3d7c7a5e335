import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "@stepwell/testing/processes/api.ts";
import { type PostgresServer, startPostgresServer } from "@stepwell/testing/processes/postgres-process.ts";
import { freshDatabase } from "@stepwell/testing/processes/store-home.ts";
import { Campaign, type CampaignOptions } from "./campaign.ts";
import { LongCalls } from "./long-calls.ts";
import { type Node, startNode, startThreeNodes } from "./nodes.ts";
import { between, chance, pick, wholeBetween } from "./random.ts";
import { setScene } from "./scene.ts";
import { Workload } from "./workload.ts";

/**
 * Runs three nodes over one database, each with calls of 30 s under way and more waiting. The database goes away for 5 to 60 s: it is stopped, so
 * that connections are refused, or it hangs. No job may fail because of this, and no call of a living node may be made again. In one more cycle at
 * the end, a node dies during the outage. The others must still detect this, and take over its calls.
 */
export async function playOutages({
  cycles,
  speed,
  workload: name,
  program,
  progress,
}: CampaignOptions): Promise<Campaign> {
  const server = await startPostgresServer();
  const home = await freshDatabase(server);
  const callMs = longCallMs / speed;
  const workload = await Workload.start(name, LongCalls.answers(callMs));
  const environment = { ...timesDividedBy(speed), ...workload.environment, ...callLimits };
  const { nodes, devFile } = await startThreeNodes(home, { program, environment });
  const ports = nodes.map(({ options }) => options.port);
  const [{ options: first }, ...others] = nodes;
  const scene = await setScene(first.port, devFile, workload.shapes);
  const campaign = new Campaign(scene, workload);
  const calls = await LongCalls.prepare(workload.functions, {
    api: new Api(first.port, devFile.token),
    requests: scene.requests,
    organizationId: devFile.organizationId,
    callsPerJob: name === "forks" ? callsPerForkedJob : 1,
  });
  Object.assign(campaign.counts, { calls: 0, repeatedCalls: 0, repeatedCallsOfDeadNode: 0 });
  await campaign.play(ports, async () => {
    for (let cycle = 1; cycle <= cycles + 1; cycle += 1) {
      const load = campaign.startLoad(ports, wholeBetween(2, 4));
      const begun = await calls.submit(ports, callsPerNode + callsInLinePerNode);
      const deadline = performance.now() + beginTimeoutMs;
      while (calls.countBegun(begun) < callsPerNode * nodes.length) {
        if (performance.now() > deadline)
          throw new Error(`Of ${calls.countOwed(begun)} calls ${calls.countBegun(begun)} began.`);
        await sleep(20);
      }
      await sleep(between(0, callMs / 3));
      campaign.countInterruption(load);
      const victim = cycle > cycles ? pick(others) : undefined;
      const outage = chance(0.5) ? stopped : frozen;
      const awayMs = between(minAwayMs, maxAwayMs) / speed;
      await outage.begin(server);
      if (victim !== undefined) await victim.service.kill();
      await sleep(awayMs);
      await outage.end(server);
      if (victim !== undefined) victim.service = (await startNode(victim.options)).service;
      const backMs = await timeUntilReady(nodes);
      const whole = { readPort: first.port, deadlineMs: performance.now() + 4 * callMs + recoveryMs };
      const findings = await calls.check(begun, { ...whole, deadPort: victim?.options.port });
      await load.stop();
      for (const finding of findings) campaign.addFinding(finding);
      const repeated = calls.countRepeated(begun);
      count(campaign, "calls", calls.countOwed(begun));
      count(campaign, victim === undefined ? "repeatedCalls" : "repeatedCallsOfDeadNode", repeated);
      const what = `${outage.name} for ${seconds(awayMs)} s${victim === undefined ? "" : ", a node killed meanwhile"}`;
      progress(
        `cycle ${cycle}/${cycles + 1}: ${what}: ready after ${backMs} ms, ${calls.countOwed(begun)} calls, ${repeated} of them repeated, ${findings.length} findings`,
      );
    }
    await campaign.conclude(first.port);
  });
  await workload.stop();
  for (const { service } of nodes) {
    campaign.keepLog(service.logFile);
    await service.stop();
  }
  await home.discard();
  await server.stop();
  return campaign;
}

const longCallMs = 30_000;
const minAwayMs = 5_000;
const maxAwayMs = 60_000;
const callsPerNode = 10;
/**
 * This many calls of each node still wait when the database goes away. Before a node begins a call that had to wait, it notes in the store that the
 * call begins. So these calls begin only when the database is back and earlier calls have ended.
 */
const callsInLinePerNode = 5;
/** `callsPerNode` and `callsInLinePerNode` must be multiples of this. */
const callsPerForkedJob = 5;
const recoveryMs = 60_000;
const beginTimeoutMs = 60_000;

const callLimits = { STEPWELL_MAX_CALLS_PER_ORGANIZATION: String(callsPerNode) };

/** The service's default times, divided by the same number as the length of the outage, so that their proportion stays as it is in reality. */
function timesDividedBy(speed: number): Record<string, string> {
  const defaults = {
    STEPWELL_HEARTBEAT_MS: 1_000,
    STEPWELL_LEASE_MS: 10_000,
    STEPWELL_DATABASE_TIMEOUT_MS: 5_000,
    STEPWELL_COMMIT_TIMEOUT_MS: 4_000,
  };
  return Object.fromEntries(Object.entries(defaults).map(([name, ms]) => [name, String(Math.round(ms / speed))]));
}

/** One way in which the database goes away. */
interface Outage {
  readonly name: string;
  begin(server: PostgresServer): Promise<void>;
  end(server: PostgresServer): Promise<void>;
}

const stopped: Outage = {
  name: "stopped",
  begin: (server) => server.crash(),
  end: (server) => server.start(),
};

const frozen: Outage = {
  name: "frozen",
  begin: async (server) => server.freeze(),
  end: async (server) => server.thaw(),
};

async function timeUntilReady(nodes: readonly Node[]): Promise<number> {
  const begunAt = performance.now();
  await Promise.all(nodes.map(({ service }) => service.ready(recoveryMs)));
  return Math.round(performance.now() - begunAt);
}

function count(campaign: Campaign, name: string, added: number): void {
  campaign.counts[name] = (campaign.counts[name] ?? 0) + added;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
