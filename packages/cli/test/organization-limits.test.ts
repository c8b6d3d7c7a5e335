import { testSecretKey } from "@stepwell/testing/service.ts";
import { type PreparedStore, postgresHome } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { endAll, printed, run, start, stop } from "./process.ts";

let store: PreparedStore;
let environment: Record<string, string>;
let organizationId: string;
let token: string;

beforeAll(async () => {
  store = await postgresHome.prepare();
  environment = { ...store.environment, STEPWELL_SECRET_KEY: testSecretKey, STEPWELL_PORT: "0" };
  const { output } = await run(environment, "init", "--email", "ada@example.org", "--organization", "acme");
  organizationId = /organization (\S+)/.exec(output)?.[1] ?? "";
  token = /stu_\w+/.exec(output)?.[0] ?? "";
});

afterEach(endAll);
afterAll(() => store.remove());

function limits(...options: string[]) {
  return run(environment, "organization", "limits", organizationId, ...options);
}

async function get(baseUrl: string | undefined, path = ""): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}` };
  return await fetch(`${baseUrl}/organizations/${organizationId}${path}`, { headers });
}

test("the operator sets limits and maximums by name, which leaves the others unchanged, and removes some again", async () => {
  expect((await limits()).output).toMatch(
    /requests per minute +default \(1500000.*\nsubmits per minute +default[\s\S]*\napiTokens +default \(1000, as configured here\)\n/,
  );
  const maximums = ["--max", "apiTokens=50", "--max", "storedMb=20000"];
  const set = await limits("--requests-per-minute", "120", "--submits-per-minute", "0", ...maximums);
  expect(set.output).toMatch(
    /requests per minute +120\nsubmits per minute +no limit\n[\s\S]*apiTokens +50\n[\s\S]*storedMb +20000\n/,
  );
  const back = await limits("--submits-per-minute", "default", "--max", "apiTokens=default");
  expect(back.output).toMatch(
    /requests per minute +120\nsubmits per minute +default \(750000[\s\S]*\napiTokens +default \(1000[\s\S]*\nstoredMb +20000\n/,
  );
});

inWholeMatrix(() => {
  test("a maximum with a wrong name or number is rejected, and the message lists the valid names", async () => {
    const wrong = [await limits("--max", "tokens=5"), await limits("--max", "apiTokens=many")];
    expect(wrong.map(({ code }) => code)).toEqual([2, 2]);
    expect(wrong[0]?.complaint).toMatch(/takes NAME=NUMBER, but is "tokens=5"\. The names are: apiTokens, /);
    expect(wrong[1]?.complaint).toMatch(/--max apiTokens must be a whole number from 0 to 1000000, but is "many"/);
  });

  test("the operator sets how many organizations one user may create", async () => {
    const organizations = (...options: string[]) =>
      run(environment, "user", "organizations", "ada@example.org", ...options);
    expect((await organizations("--max", "3")).output).toContain(": at most 3, 0 created.");
    const back = await organizations("--max", "default");
    expect(back.output).toContain("Organizations of ada@example.org: at most 10 (as configured here), 0 created.");
    const wrong = await organizations("--max", "-1");
    expect(wrong).toMatchObject({ code: 2, complaint: expect.stringContaining("a whole number from 0 to 1000000") });
  });
});

test("the operator's limits apply when the service starts, and the audit trail has an entry for them", async () => {
  await limits("--requests-per-minute", "240");
  const service = start(environment, "serve");
  const baseUrl = /"baseUrl":"([^"]+)"/.exec(await printed(service, '"msg":"listening"'))?.[1];
  expect((await get(baseUrl)).headers.get("ratelimit-policy")).toBe('"requests";q=240;w=60');
  const newest = await get(baseUrl, "/audit?action=UpdateOrganizationLimits&pageSize=1");
  expect(await newest.json()).toMatchObject({
    entries: [
      {
        actor: { type: "service", id: "stepwell organization limits" },
        target: { type: "organization", id: organizationId },
        details: { requestsPerMinute: { to: 240 } },
      },
    ],
  });
  await stop(service, "SIGTERM");
});

inWholeMatrix(() => {
  test("an invalid limit and an unknown organization are reported in one sentence", async () => {
    const wrong = await limits("--submits-per-minute", "many");
    expect(wrong).toMatchObject({
      code: 2,
      complaint: expect.stringMatching(/^stepwell: --submits-per-minute takes a number from 0/),
    });
    const unknown = await run(environment, "organization", "limits", "00000000-0000-7000-8000-000000000000");
    expect(unknown).toMatchObject({ code: 3, complaint: expect.stringContaining("has no organization") });
  });
});
