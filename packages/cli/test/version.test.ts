import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { run } from "./process.ts";

const service = useService(postgresHome);

test("the workspace, its packages, the API document, and the command line have the same version", async () => {
  const { version } = manifestIn("../../..");
  const manifests = ["client", "server", "cli", "dashboard"].map(manifestOf);
  expect(manifests.map((manifest) => manifest.version)).toEqual([version, version, version, version]);
  // A release of the command line requires the same release of the client and of the server.
  expect(manifestOf("cli").dependencies).toMatchObject({ "@stepwell/client": version, "@stepwell/server": version });
  expect((await run({}, "--version")).output).toBe(`${version}\n`);
  const document = await (await fetch(`${service.baseUrl}/openapi.json`)).json();
  expect(document).toMatchObject({ info: { version } });
});

test("a clone installs the same Node.js version on every platform, and the packages support it", () => {
  const { optionalDependencies } = manifestIn("../../..");
  const versions = Object.entries(optionalDependencies).filter(([name]) => name.startsWith("node-"));
  expect(versions).toHaveLength(5);
  const [first, ...others] = new Set(versions.map(([, version]) => version));
  expect(others).toEqual([]);
  expect(Number.parseInt(first ?? "", 10)).toBeGreaterThanOrEqual(24);
});

interface Manifest {
  readonly version: string;
  readonly optionalDependencies: Record<string, string>;
  readonly dependencies: Record<string, string>;
}

function manifestOf(name: string): Manifest {
  return manifestIn(`../../${name}`);
}

function manifestIn(directory: string): Manifest {
  return JSON.parse(readFileSync(resolve(import.meta.dirname, directory, "package.json"), "utf8"));
}
