import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { type ServiceOptions, ServiceProcess } from "@stepwell/testing/processes/service-process.ts";
import { openStoreHomes } from "@stepwell/testing/processes/store-home.ts";
import { Campaign, type CampaignOptions } from "./campaign.ts";
import { between, chance, wholeBetween } from "./random.ts";
import { setScene } from "./scene.ts";
import { Workload } from "./workload.ts";

/**
 * Kills the service at random moments, again and again on the same store. Everything that the service acknowledged before must still exist
 * afterwards.
 */
export async function playCrashes({
  cycles,
  store,
  workload: name,
  program,
  progress,
}: CampaignOptions): Promise<Campaign> {
  const homes = await openStoreHomes(store);
  const home = await homes.fresh();
  const workload = await Workload.start(name);
  const options = { home, port: await findFreePort(), program, environment: workload.environment };
  let service = new ServiceProcess(options);
  const scene = await setScene(options.port, await service.seeded(), workload.shapes);
  const campaign = new Campaign(scene, workload);
  await campaign.play([options.port], async () => {
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      const load = campaign.startLoad([options.port], wholeBetween(8, 16));
      await sleep(between(300, 1_500));
      if (service.hasEnded) campaign.report("It ended by itself.");
      const inFlight = campaign.countInterruption(load);
      await Promise.all([service.kill(), load.stop()]);
      const killedAt = performance.now();
      service = await restart(options);
      const backMs = Math.round(performance.now() - killedAt);
      progress(`cycle ${cycle}/${cycles}: killed with ${inFlight} requests under way, back after ${backMs} ms`);
    }
    await campaign.conclude(options.port);
  });
  campaign.keepLog(service.logFile);
  await workload.stop();
  await service.stop();
  await home.discard();
  await homes.close();
  return campaign;
}

/** Starts the service again. Sometimes kills it during its recovery, and then starts it once more. */
async function restart(options: ServiceOptions): Promise<ServiceProcess> {
  while (chance(0.1)) {
    const unlucky = new ServiceProcess(options);
    await sleep(between(0, 600));
    await unlucky.kill();
  }
  const service = new ServiceProcess(options);
  await service.ready();
  return service;
}
