/**
 * Writes a picture of every page into `screenshots/`: light, dark, and as narrow as a telephone. With `--readme` it writes only the
 * pictures of the README, into `docs/images/`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../packages/server/src/config.ts";
import { initializeOwner } from "../packages/server/src/operator/initial-owner.ts";
import { startService } from "../packages/server/src/service.ts";
import { functionBodies } from "./screenshots/function-bodies.ts";
import { startFunctions } from "./screenshots/functions.ts";
import { MovingClock } from "./screenshots/moving-clock.ts";
import { giveSecondFactor, password } from "./screenshots/people.ts";
import { takeAll, takeForReadme } from "./screenshots/pictures.ts";
import { operatorEmail, ownerEmail, tellStory } from "./screenshots/story.ts";

const clock = new MovingClock(30 * 3_600_000);
const dataDir = mkdtempSync(join(tmpdir(), "stepwell-screenshots-"));
const functions = await startFunctions(clock, functionBodies);
const config = readConfig({
  STEPWELL_PORT: "0",
  STEPWELL_METRICS_PORT: "0",
  STEPWELL_LOG_LEVEL: "error",
  STEPWELL_DRAIN_SECONDS: "1",
  STEPWELL_POLL_MS: "50",
  STEPWELL_HEARTBEAT_MS: "50",
  STEPWELL_LEASE_MS: "600000",
  STEPWELL_DATA_DIR: dataDir,
  STEPWELL_CLOUD_FUNCTION_ENDPOINT: functions.endpoint,
});
const service = await startService(config);
try {
  const owner = { email: ownerEmail, displayName: "Mara Lindqvist", organizationName: "acme", password };
  const begun = await initializeOwner(service.database, owner);
  if (begun === undefined) throw new Error("The store is not empty.");
  const story = await tellStory(service, clock, begun);
  const recoveryCodes = await giveSecondFactor(service, config, operatorEmail);
  const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const parts = { baseUrl: service.baseUrl, story, recoveryCodes, words };
  const written = process.argv.includes("--readme") ? await takeForReadme(parts) : await takeAll(parts);
  process.stdout.write(`${written.count} pictures written to ${written.directory}\n`);
} finally {
  functions.stop();
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
