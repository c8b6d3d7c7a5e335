/**
 * Writes the client's types from the service's own API document; with `--check` only says whether they are up to date. Needs the build.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readConfig, startService } from "@stepwell/server";

const directory = "packages/client/src/generated";
const document = await apiDocument();
write("api.ts", await typesOf(document));
write("keyed-paths.ts", keyedPathsOf(JSON.parse(document)));

function write(name: string, text: string): void {
  const file = join(directory, name);
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    process.stderr.write(`${file} is out of date: run npm run generate\n`);
    process.exitCode = 1;
  }
}

async function apiDocument(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "stepwell-document-"));
  const service = await startService(
    readConfig({
      STEPWELL_DATA_DIR: directory,
      STEPWELL_PORT: "0",
      STEPWELL_METRICS_PORT: "0",
      STEPWELL_LOG_LEVEL: "error",
    }),
  );
  try {
    return await (await fetch(`${service.baseUrl}/openapi.json`)).text();
  } finally {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly parameters?: readonly { name: string }[] } }>>;
}

function keyedPathsOf({ paths }: ApiDocument): string {
  const keyed = Object.entries(paths).flatMap(([path, { post }]) =>
    post?.parameters?.some(({ name }) => name === "Idempotency-Key") ? [path] : [],
  );
  const lines = keyed.map((path) => `  ${JSON.stringify(path)},\n`).join("");
  return `/** Generated from the API document: where a POST takes an Idempotency-Key. */\nexport const keyedPaths = [\n${lines}];\n`;
}

/** The generator is the client's own dependency: it needs another TypeScript than the rest of the house. */
async function typesOf(document: string): Promise<string> {
  const clientRequire = createRequire(pathToFileURL(resolve("packages/client/package.json")));
  const generator = clientRequire("openapi-typescript");
  return generator.COMMENT_HEADER + generator.astToString(await generator.default(document));
}
