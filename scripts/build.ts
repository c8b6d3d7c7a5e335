/** Compiles every package, copies its other files, and builds what the server serves or unpacks: dashboard, documentation, an empty cluster. */
import { spawnSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { buildDashboard } from "./build-dashboard.ts";
import { buildDocs } from "./build-docs.ts";
import { buildEmptyCluster } from "./build-empty-cluster.ts";

// The build of the dashboard and the compiler run at the same time, since neither needs the output of the other.
const dashboard = buildDashboard();
// Each checker checks the shared types anew, so one checker for every two processors is faster than one for each processor.
const checkers = String(Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))));
const compiler = ["node_modules/typescript/bin/tsc", "-b", "--checkers", checkers];
const compiled = spawnSync(process.execPath, compiler, { stdio: "inherit" });
// The directory is removed first: if a migration of another branch stayed in it, the service would not start.
rmSync("packages/server/dist/store/migrations", { recursive: true, force: true });
cpSync("packages/server/src/store/migrations", "packages/server/dist/store/migrations", { recursive: true });
writeFileSync("packages/client/dist/commonjs/package.json", '{ "type": "commonjs" }\n');
for (const name of ["client", "server", "cli"]) cpSync("LICENSE", `packages/${name}/LICENSE`);
cpSync("examples", "packages/cli/dist/examples", { recursive: true });
await buildEmptyCluster();
process.exitCode = (compiled.status ?? 1) || (await dashboard);
// The pages of the documentation use files of the dashboard's build.
if (process.exitCode === 0) await buildDocs();
