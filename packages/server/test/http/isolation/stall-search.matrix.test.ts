import { randomInt } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { beginCpuMs } from "@stepwell/testing/time/cpu-time.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { expect, test } from "vitest";
import { type Attempt, Chance, changed, definitionText, newAttempt, valueText } from "./stall-search.ts";

const searchMs = 90_000;
/**
 * No request may block this thread for longer than this. The promise is 100 ms on a machine that does nothing else, but here the same thread also
 * makes the requests.
 */
const maxStallMs = timeLimit(300);

/** A request, and the time for which it blocked this thread. */
interface Stall {
  readonly attempt: Attempt;
  readonly name: string;
  readonly bytes: number;
  readonly delayMs: number;
}

/** The database is another process, so that this thread's delays are those of the service's own code. */
const service = useService(postgresHome);

test("no request that the search finds stalls the node", { timeout: searchMs + 60_000 }, async () => {
  // Each run has another seed, so that the nightly runs together search more.
  const seed = Number(process.env.STEPWELL_TEST_SEED ?? randomInt(2 ** 31));
  process.stdout.write(`The search for stalls has the seed ${seed}; STEPWELL_TEST_SEED=${seed} repeats it.\n`);
  const chance = new Chance(seed);
  const organization = await service.newOrganization();
  const { workflowId } = await deploy(organization.api, straightDefinition);
  const send = sender(organization);
  let slowest: Stall[] = [];
  const measure = async (request: Request, attempt: Attempt) => {
    const { delayMs, versionId } = await send(request);
    if (delayMs > maxStallMs) {
      // A delay that does not happen again was caused by another process.
      const again = [await send(request), await send(request), await send(request)].map((sent) => sent.delayMs);
      expect(Math.min(...again), `${request.name}: ${JSON.stringify(attempt).slice(0, 2_000)}`).toBeLessThan(
        maxStallMs,
      );
    }
    slowest.push({ attempt, name: request.name, bytes: request.bytes, delayMs });
    return versionId;
  };
  const until = performance.now() + searchMs;
  while (performance.now() < until) {
    const parent = slowest[chance.below(slowest.length + 1)];
    const attempt = parent === undefined ? newAttempt(chance) : changed(parent.attempt, chance);
    const versionId = await measure(registrationOf(attempt, workflowId), attempt);
    for (const request of requestsOf(attempt, { workflowId, versionId })) await measure(request, attempt);
    slowest = slowest.sort((one, other) => perByte(other) - perByte(one)).slice(0, 12);
  }
  const report = slowest
    .slice(0, 3)
    .map(({ name, bytes, delayMs }) => `${name} ${delayMs.toFixed(0)} ms for ${bytes} bytes`);
  process.stdout.write(`The slowest for their size: ${report.join("; ")}\n`);
  expect(slowest.length).toBeGreaterThan(0);
});

/** Requests below 10 KB count as 10 KB, since a small request costs nearly the same whatever its size. */
function perByte({ delayMs, bytes }: Stall): number {
  return delayMs / Math.max(bytes, 10_000);
}

interface Request {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly bytes: number;
}

function registrationOf(attempt: Attempt, workflowId: string): Request {
  return post(
    "register",
    `/workflows/${workflowId}/versions?ifChanged=true`,
    JSON.stringify({ definition: definitionText(attempt) }),
  );
}

interface Target {
  readonly workflowId: string;
  /** The version that the attempt registered; undefined if its definition was rejected. */
  readonly versionId: string | undefined;
}

function requestsOf(attempt: Attempt, { workflowId, versionId }: Target): Request[] {
  const value = valueText(attempt.value);
  const filter = encodeURIComponent(attempt.filter.join(""));
  const get = (path: string): Request => ({ name: path.split("?")[0] ?? "", method: "GET", path, bytes: path.length });
  const choice = versionId === undefined ? "" : `"workflowVersion":{"versionId":"${versionId}"},`;
  return [
    post("submit", "/jobs", `{"workflowId":"${workflowId}",${choice}"inputJson":{"x":${value}}}`),
    post("create a role", "/roles", `{"name":"x","permissions":${value}}`),
    get(`/jobs?status=${filter}`),
    get(`/jobs?workflowName=${filter}`),
    get(`/audit?action=${filter}`),
  ];
}

function post(name: string, path: string, body: string): Request {
  return { name, method: "POST", path, body, bytes: body.length };
}

/** Returns a function that sends a request and measures the longest delay in this thread. A delay counts only up to the CPU time that was used. */
function sender({ organizationId, owner }: TestOrganization) {
  return async ({ method, path, body }: Request): Promise<{ delayMs: number; versionId: string | undefined }> => {
    const headers = { authorization: `Bearer ${owner.token}`, ...(body && { "content-type": "application/json" }) };
    const url = `${service.baseUrl}/organizations/${organizationId}${path}`;
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const usedMs = beginCpuMs();
    delay.enable();
    const answer = await fetch(url, { method, headers, ...(body && { body }) });
    const text = await answer.text();
    delay.disable();
    // Definitions are checked in a thread of their own, which may get too little time on a busy machine. That delays no other request.
    const isCheckGivenUp = answer.status === 503 && text.includes("could not be checked in time");
    if (!isCheckGivenUp) expect(answer.status, `${path}: ${text}`).toBeLessThan(500);
    const { versionId } = JSON.parse(text) as { readonly versionId?: string };
    return { delayMs: Math.min(delay.max / 1e6, usedMs()), versionId };
  };
}
