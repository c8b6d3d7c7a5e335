import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { filesBelow, stampOf } from "./stamp.ts";

const source = "packages/dashboard";
const target = "packages/server/dist/dashboard";
/** The stamp is beside the directory of the built files, since all files in the directory are served. */
const stampFile = "packages/server/dist/dashboard.stamp";

/** Builds the dashboard if any of its sources changed since the last build. Returns an exit code. */
export async function buildDashboard(): Promise<number> {
  const stamp = stampOfInputs();
  if (existsSync(join(target, "index.html")) && stampOfLastBuild() === stamp) return 0;
  const code = await runVite();
  if (code !== 0) return code;
  await compressAssets();
  writeFileSync(stampFile, stamp);
  return 0;
}

function stampOfInputs(): string {
  const others = ["index.html", "vite.config.ts", "package.json"].map((file) => join(source, file));
  return stampOf([...filesBelow(join(source, "src")), ...others, "package-lock.json", "scripts/build-dashboard.ts"]);
}

function stampOfLastBuild(): string | undefined {
  return existsSync(stampFile) ? readFileSync(stampFile, "utf8") : undefined;
}

async function runVite(): Promise<number> {
  const vite = spawn(process.execPath, ["node_modules/vite/bin/vite.js", "build", source, "--logLevel", "warn"], {
    stdio: "inherit",
  });
  return await new Promise((resolve) => vite.once("exit", (code) => resolve(code ?? 1)));
}

/** Compresses the assets once, so that no request has to. Small files, and files that are not text, get no compressed copy. */
async function compressAssets(): Promise<void> {
  const folder = join(target, "assets");
  const files = readdirSync(folder).filter((file) => /\.(js|css|svg|json)$/.test(file));
  await Promise.all(
    files.map(async (file) => {
      const path = join(folder, file);
      const content = readFileSync(path);
      if (content.length < minCompressedBytes) return;
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(content, quality));
      writeFileSync(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}

const minCompressedBytes = 1_024;
