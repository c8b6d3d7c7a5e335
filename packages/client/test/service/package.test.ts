import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { outputsIn, printedExamplesIn, programOf } from "@stepwell/testing/api/printed-examples.ts";
import { programPermissions } from "@stepwell/testing/api/program-permissions.ts";
import { Shell } from "@stepwell/testing/processes/shell.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// npm and the compiler take a few seconds, and much longer on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = resolve(import.meta.dirname, "../../../..");
const node = `'${process.execPath}'`;

onOneStore((home) => {
  const service = useService(home);
  let directory: string;
  let shell: Shell;

  // Installs the library as a user does: from the packed file, in an empty directory, without network access.
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "stepwell-client-"));
    await writeFile(join(directory, "package.json"), '{ "private": true }');
    const { organizationId, api } = await service.newOrganization();
    const permissions = [...programPermissions, "task:work", "metrics:read"];
    const { body } = await api.call<{ token: string }>("CreateApiToken", { body: { name: "readme", permissions } });
    shell = new Shell(directory, {
      STEPWELL_URL: service.baseUrl,
      STEPWELL_TOKEN: body.token,
      STEPWELL_ORGANIZATION: organizationId,
    });
    const file = await shell.succeed(`npm pack --silent --ignore-scripts '${join(root, "packages/client")}'`);
    await shell.succeed(`npm install --offline --no-audit --no-fund ./${file}`);
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("the examples of docs/client.md compile and print the documented output", async () => {
    const examples = printedExamplesIn(readFileSync(join(root, "docs/client.md"), "utf8"));
    await writeFile(join(directory, "page.mts"), programOf(examples));
    const types = `--types node --typeRoots '${join(root, "node_modules/@types")}'`;
    const compile = `${node} '${join(root, "node_modules/typescript/bin/tsc")}' --module nodenext --target es2022 --strict`;
    await shell.succeed(`${compile} ${types} page.mts`);
    expect(outputsIn(await shell.succeed(`${node} page.mjs`))).toEqual(examples.map(({ output }) => output));
    expect(examples.length).toBeGreaterThan(9);
  });

  test("the README of the package has only examples from docs/client.md, so they are tested too", () => {
    const [readme = "", page = ""] = ["packages/client/README.md", "docs/client.md"].map((file) =>
      readFileSync(join(root, file), "utf8"),
    );
    const examples = printedExamplesIn(readme);
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.filter(({ code }) => !page.includes(code))).toEqual([]);
  });

  test("the package has no dependencies, and CommonJS can require it", async () => {
    expect(await shell.succeed("ls -A node_modules node_modules/@stepwell | grep -v '^\\.'")).toBe(
      "node_modules:\n@stepwell\n\nnode_modules/@stepwell:\nclient\n",
    );
    const program = `const { createClient } = require("@stepwell/client");
      createClient({ baseUrl: process.env.STEPWELL_URL, token: process.env.STEPWELL_TOKEN }).whoAmI().then(({ name }) => console.log(name));`;
    expect(await shell.succeed(`${node} -e '${program}'`)).toBe("readme\n");
  });
});
