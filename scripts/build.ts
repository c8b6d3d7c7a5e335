/** Compiles every package and puts what is not TypeScript beside it. */
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";

const compiled = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-b"], { stdio: "inherit" });
cpSync("packages/server/src/store/migrations", "packages/server/dist/store/migrations", { recursive: true });
process.exitCode = compiled.status ?? 1;
