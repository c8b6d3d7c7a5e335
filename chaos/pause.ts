import { setTimeout as sleep } from "node:timers/promises";
import { openStoreHomes } from "@stepwell/testing/processes/store-home.ts";
import { Campaign, type CampaignOptions } from "./campaign.ts";
import { type Node, startNode, startThreeNodes } from "./nodes.ts";
import { between, chance, wholeBetween } from "./random.ts";
import { setScene } from "./scene.ts";
import { Workload } from "./workload.ts";

/**
 * Plays a campaign with three nodes over one database. In each cycle, one of the nodes hangs for longer than its lease and comes back, or is killed
 * and started again. The clients send requests to all three meanwhile.
 */
export async function playPauses({ cycles, workload: name, program, progress }: CampaignOptions): Promise<Campaign> {
  const homes = await openStoreHomes("postgres");
  const home = await homes.fresh();
  const workload = await Workload.start(name);
  const leases = { STEPWELL_HEARTBEAT_MS: "200", STEPWELL_LEASE_MS: String(leaseMs) };
  const environment = { ...leases, ...workload.environment };
  const { nodes, devFile } = await startThreeNodes(home, { program, environment });
  const [first] = nodes;
  const campaign = new Campaign(await setScene(first.options.port, devFile, workload.shapes), workload, leaseMs);
  const ports = nodes.map(({ options }) => options.port);
  await campaign.play(ports, async () => {
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      const load = campaign.startLoad(ports, wholeBetween(8, 16));
      await sleep(between(200, 600));
      const index = wholeBetween(0, nodes.length - 1);
      const inFlight = campaign.countInterruption(load);
      const isKilled = chance(0.25);
      await (isKilled ? killAndRestart(nodes, index) : pause(nodes, index));
      await sleep(between(100, 400));
      await load.stop();
      const what = `node ${index + 1} ${isKilled ? "killed" : "paused"} with ${inFlight} requests under way`;
      progress(`cycle ${cycle}/${cycles}: ${what}`);
    }
    // A node that was paused may still make calls. They end within the duration of one lease.
    await sleep(leaseMs);
    await campaign.conclude(first.options.port);
  });
  await workload.stop();
  for (const { service } of nodes) {
    campaign.keepLog(service.logFile);
    await service.stop();
  }
  await home.discard();
  await homes.close();
  return campaign;
}

const leaseMs = 1_000;

async function pause(nodes: readonly Node[], index: number): Promise<void> {
  nodes[index]?.service.signal("SIGSTOP");
  await sleep(leaseMs + between(200, 1_000));
  nodes[index]?.service.signal("SIGCONT");
}

async function killAndRestart(nodes: readonly Node[], index: number): Promise<void> {
  const node = nodes[index];
  if (node === undefined) return;
  await node.service.kill();
  await sleep(between(0, leaseMs));
  node.service = (await startNode(node.options)).service;
}
