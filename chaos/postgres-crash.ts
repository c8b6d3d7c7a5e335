import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { startPostgresServer } from "@stepwell/testing/processes/postgres-process.ts";
import { ServiceProcess } from "@stepwell/testing/processes/service-process.ts";
import { freshDatabase } from "@stepwell/testing/processes/store-home.ts";
import { Campaign, type CampaignOptions } from "./campaign.ts";
import { isUnavailable } from "./check/answers.ts";
import { between, wholeBetween } from "./random.ts";
import { setScene } from "./scene.ts";
import { Workload } from "./workload.ts";

/**
 * Kills the database of the service and starts it again, in each cycle. The health of the service must report the first outage, and the end of each
 * outage. The service must lose nothing and recover by itself.
 */
export async function playPostgresCrashes({
  cycles,
  workload: name,
  program,
  progress,
}: CampaignOptions): Promise<Campaign> {
  const server = await startPostgresServer();
  const home = await freshDatabase(server);
  const port = await findFreePort();
  const workload = await Workload.start(name);
  // A shorter timeout than usual, so that even a short outage is noticed.
  const environment = { STEPWELL_COMMIT_TIMEOUT_MS: "500", ...workload.environment };
  const service = new ServiceProcess({ home, port, program, environment });
  const campaign = new Campaign(await setScene(port, await service.seeded(), workload.shapes), workload);
  await campaign.play([port], async () => {
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      const load = campaign.startLoad([port], wholeBetween(8, 16));
      await sleep(between(300, 1_000));
      const inFlight = campaign.countInterruption(load);
      await server.crash();
      // The health may stay unchanged for the length of a lease, so only the first outage is made long enough to see it change.
      if (cycle === 1) progress(`the health reported the first outage after ${await timeUntil(503, service)} ms`);
      else await sleep(between(100, 3_000));
      await server.start();
      const backMs = await timeUntil(200, service);
      await sleep(between(200, 800));
      await load.stop();
      progress(
        `cycle ${cycle}/${cycles}: database killed with ${inFlight} requests under way, ready ${backMs} ms after its return`,
      );
    }
    if (!campaign.recorder.operations.some(({ outcome }) => isUnavailable(outcome))) {
      campaign.report("No request was answered 503 while the database was gone.");
    }
    await campaign.conclude(port);
  });
  campaign.keepLog(service.logFile);
  await workload.stop();
  await service.stop();
  await home.discard();
  await server.stop();
  return campaign;
}

/** Returns how many milliseconds pass until the health reports `status`. Throws when that takes longer than 15 s, which is more than the lease. */
async function timeUntil(status: number, service: ServiceProcess): Promise<number> {
  const begunAt = performance.now();
  while (performance.now() - begunAt < 15_000) {
    if (service.hasEnded) throw new Error(`The service ended when its database was gone.\n${service.logTail()}`);
    if ((await service.healthStatus()) === status) return Math.round(performance.now() - begunAt);
    await sleep(20);
  }
  throw new Error(`The health of the service was not ${status} within 15 s.`);
}
