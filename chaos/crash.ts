import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "@stepwell/testing/processes/free-port.ts";
import { type ServiceOptions, ServiceProcess } from "@stepwell/testing/processes/service-process.ts";
import { openStoreHomes } from "@stepwell/testing/processes/store-home.ts";
import { Campaign, type CampaignOptions } from "./campaign.ts";
import { between, chance, wholeBetween } from "./random.ts";
import { setScene } from "./scene.ts";

/**
 * Kills the service at any moment of its work, again and again on the same store. What it acknowledged before must be there
 * afterwards.
 */
export async function playCrashes({ cycles, store, program, progress }: CampaignOptions): Promise<Campaign> {
  const homes = await openStoreHomes(store);
  const home = await homes.fresh();
  const options = { home, port: await findFreePort(), program };
  let service = new ServiceProcess(options);
  const campaign = new Campaign(await setScene(options.port, await service.seeded()));
  await campaign.play(async () => {
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
  await service.stop();
  await home.discard();
  await homes.close();
  return campaign;
}

/** Now and then a recovery is itself killed. */
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
