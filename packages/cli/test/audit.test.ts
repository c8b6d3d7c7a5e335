import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, readConfig } from "@stepwell/server";
import { testSecretKey } from "@stepwell/testing/service.ts";
import { onOneStore, type PreparedStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { endAll, printed, run, start, stop } from "./process.ts";

afterEach(endAll);

/* Each test continues where the one before it ended, on one store. */
onOneStore((home) => {
  let store: PreparedStore;
  let environment: Record<string, string>;
  let organizationId: string;

  beforeAll(async () => {
    store = await home.prepare();
    environment = { ...store.environment, STEPWELL_SECRET_KEY: testSecretKey, STEPWELL_PORT: "0" };
  });
  afterAll(() => store.remove());

  test("while a service runs, its audit trail is verified through the service", async () => {
    const made = await run(environment, "init", "--email", "ada@example.org", "--organization", "acme");
    organizationId = /^organization (\S+)$/m.exec(made.output)?.[1] ?? "";
    const token = /stu_\w+/.exec(made.output)?.[0] ?? "";
    const service = start(environment, "serve");
    const baseUrl = /"baseUrl":"([^"]+)"/.exec(await printed(service, '"msg":"listening"'))?.[1] ?? "";
    const answer = await fetch(`${baseUrl}/organizations/${organizationId}/workflows`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ name: "order-approval" }),
    });
    expect(answer.status).toBe(201);
    const known = { ...environment, STEPWELL_TOKEN: token, STEPWELL_ORGANIZATION: organizationId };
    const asked = await run({ ...known, STEPWELL_URL: baseUrl }, "audit", "verify");
    expect(asked).toMatchObject({ code: 0, output: expect.stringContaining(`organization ${organizationId}: intact`) });
    await sealed(baseUrl, organizationId, token);
    expect(await stop(service, "SIGTERM")).toBe(0);
  });

  inWholeMatrix(() => {
    test("the audit trail of a stopped store can be verified, and the next check can require its newest seal", async () => {
      const first = await run(environment, "audit", "verify");
      expect(first).toMatchObject({
        code: 0,
        output: expect.stringMatching(/: intact; \d+ entries in \d+ seals, 0 not/),
      });
      const newest = /newest seal (\d+:[0-9a-f]{64})/.exec(first.output)?.[1] ?? "";
      const expecting = ["audit", "verify", "--organization", organizationId, "--expect"];
      expect(await run(environment, ...expecting, newest)).toMatchObject({ code: 0 });
      expect(await run(environment, ...expecting, `9${newest}`)).toMatchObject({
        code: 1,
        output: expect.stringContaining("is not the one that was expected"),
      });
      for (const unknown of ["00000000-0000-7000-8000-000000000000", "acme"]) {
        expect(await run(environment, "audit", "verify", "--organization", unknown)).toMatchObject({
          code: 3,
          output: "",
          complaint: expect.stringContaining(`This store has no audit trail of an organization ${unknown}.`),
        });
      }
      expect((await run(environment, ...expecting, "newest")).complaint).toContain("NUMBER:HASH");
    });
  });

  test("a changed row in the store is reported, and the command exits with 1", async () => {
    const database = await openStore(readConfig(environment));
    const rows = await database.query<{ entryId: string }>(
      {
        name: "tamper",
        scope: "organization",
        planned: "each-time",
        text: `UPDATE audit_entry SET address = '192.0.2.1' WHERE action = 'RegisterWorkflow' RETURNING entry_id AS "entryId"`,
      },
      [],
    );
    await database.close();
    expect(await run(environment, "audit", "verify", "--organization", organizationId)).toMatchObject({
      code: 1,
      output: expect.stringMatching(new RegExp(`NOT INTACT.*\\n  Entry ${rows[0]?.entryId} is not as seal`)),
    });
  });

  inWholeMatrix(() => {
    test("the audit trail cannot be verified with the wrong secret key, because every seal would look changed", async () => {
      const other = { ...environment, STEPWELL_SECRET_KEY: randomBytes(32).toString("base64") };
      expect(await run(other, "audit", "verify")).toMatchObject({
        code: 1,
        output: "",
        complaint: expect.stringContaining("STEPWELL_SECRET_KEY is not the secret key of this store"),
      });
    });
  });
});

test("verification creates neither a store nor a secret key", async () => {
  const directory = await mkdtemp(join(tmpdir(), "stepwell-audit-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const environment = { STEPWELL_DATA_DIR: directory };
  expect((await run(environment, "audit", "verify")).complaint).toContain("There is no store in");
  await mkdir(join(directory, "postgres"));
  expect((await run(environment, "audit", "verify")).complaint).toContain("secret.key is missing");
  expect(await readdir(directory)).toEqual(["postgres"]);
});

/** Asks until the service has sealed all entries. */
async function sealed(baseUrl: string, organizationId: string, token: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${baseUrl}/organizations/${organizationId}/audit/verification`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { unsealedEntries } = (await answer.json()) as { unsealedEntries: number };
    if (unsealedEntries === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
