import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { outputsIn, printedExamplesIn, programOf } from "@stepwell/testing/api/printed-examples.ts";
import { programPermissions } from "@stepwell/testing/api/program-permissions.ts";
import { Shell } from "@stepwell/testing/processes/shell.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// npm and the compiler take a few seconds, and much longer on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = resolve(import.meta.dirname, "../../../..");
const node = `'${process.execPath}'`;
/** The README is read on the page of the registry, so its links to the documentation are whole addresses. */
const docsAddress = "https://github.com/stepwell/stepwell/blob/main/docs/";

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

  test("the sections of the package's README are those of docs/client.md, so their examples are tested too", () => {
    const page = readFileSync(join(root, "docs/client.md"), "utf8");
    const readme = readFileSync(join(root, "packages/client/README.md"), "utf8");
    const sections = sectionsOf(readme.replaceAll(docsAddress, ""));
    const expected = sectionsOf(page);
    expect(sections.filter((section) => !expected.includes(section))).toEqual([]);
    const examples = printedExamplesIn(page).map(({ code }) => code);
    const shown = printedExamplesIn(readme).map(({ code }) => code);
    expect(shown.filter((code) => !examples.includes(code))).toEqual([]);
    expect(shown.length).toBeGreaterThan(5);
  });

  inWholeMatrix(() => {
    test("the package has no dependencies, and CommonJS can require it", async () => {
      expect(await shell.succeed("ls -A node_modules node_modules/@stepwell | grep -v '^\\.'")).toBe(
        "node_modules:\n@stepwell\n\nnode_modules/@stepwell:\nclient\n",
      );
      const program = `const { createClient } = require("@stepwell/client");
      createClient({ baseUrl: process.env.STEPWELL_URL, token: process.env.STEPWELL_TOKEN }).whoAmI().then(({ name }) => console.log(name));`;
      expect(await shell.succeed(`${node} -e '${program}'`)).toBe("readme\n");
    });
  });
});

/** Returns the sections of a page, each with its heading, without the text before the first heading. */
function sectionsOf(page: string): readonly string[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => section.trim());
}
