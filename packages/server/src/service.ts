import { fileURLToPath } from "node:url";
import { type Logger, pino } from "pino";
import type { Config } from "./config.ts";
import { executorCatalog } from "./engine/executors/catalog.ts";
import { retentionDuty } from "./engine/maintenance/retention.ts";
import { vacuumDuty } from "./engine/maintenance/vacuum.ts";
import { NodeEngine } from "./engine/node-engine.ts";
import type { Database } from "./store/database.ts";
import { openEmbedded } from "./store/embedded.ts";
import { migrate } from "./store/migrate.ts";
import { openPostgres } from "./store/postgres.ts";

export interface RunningService {
  /** Where clients reach it, without a slash at the end. */
  readonly baseUrl: string;
  readonly engine: NodeEngine;
  readonly database: Database;
  /** Takes no more work, finishes or hands back what is under way, and closes the store. */
  stop(): Promise<void>;
}

void fileURLToPath;
void pino;
type _L = Logger;
void executorCatalog;
void retentionDuty;
void vacuumDuty;
void openEmbedded;
void migrate;
void openPostgres;
type _C = Config;
