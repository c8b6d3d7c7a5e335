import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { eventsOf } from "@stepwell/testing/server-sent.ts";
import { type TestOrganization, TestService, useService } from "@stepwell/testing/service.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { expect, test } from "vitest";
import { unknownId } from "../authorization/authorization-rows.ts";

interface Told {
  readonly organizationId: string;
  readonly jobId: string;
  readonly entry?: { readonly sequence: number };
  readonly problem?: { readonly code: string; readonly detail: string };
}

onOneStore((home) => {
  const service = useService(home);

  function connect(token: string, jobs: readonly string[], lastEventId?: string): Promise<Response> {
    const query = jobs.map((job) => `job=${job}`).join("&");
    return fetch(`${service.baseUrl}/stream?${query}`, {
      headers: { authorization: `Bearer ${token}`, ...(lastEventId !== undefined && { "last-event-id": lastEventId }) },
    });
  }

  function waiting({ organizationId }: TestOrganization): number {
    return service.running.engine.waitingCountOf(organizationId);
  }

  async function newJob({ api, organizationId }: TestOrganization, definition = waitingDefinition): Promise<Job> {
    const { workflowId } = await deploy(api, definition);
    const { jobId } = await submitAndWait(api, workflowId);
    return {
      jobId,
      workflowId,
      name: `${organizationId}/${jobId}`,
      approve: async () => void (await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } })),
    };
  }

  interface Job {
    readonly jobId: string;
    readonly workflowId: string;
    readonly name: string;
    readonly approve: () => Promise<void>;
  }

  test("one stream sends the changes of jobs of several organizations, and ends when all of them have ended", async () => {
    const one = await service.newOrganization();
    const other = await service.newOrganization(one.owner);
    const jobs = [await newJob(one), await newJob(other), await newJob(other, straightDefinition)];
    const seen = new Map<string, number[]>(jobs.map(({ jobId }) => [jobId, []]));
    const response = await connect(
      one.owner.token,
      jobs.map(({ name }) => name),
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    for await (const { type, data } of eventsOf<Told>(response)) {
      seen.get(data.jobId)?.push(data.entry?.sequence ?? 0);
      if (type === "step.waiting") await jobs.find(({ jobId }) => jobId === data.jobId)?.approve();
    }
    for (const [index, { jobId }] of jobs.entries()) {
      const { api } = index === 0 ? one : other;
      const query = { pageSize: 200 };
      const { body } = await api.call<{ entries: { sequence: number }[] }>("GetJobHistory", {
        params: { jobId },
        query,
      });
      expect(seen.get(jobId)).toEqual(body.entries.map(({ sequence }) => sequence));
    }
  });

  test("Last-Event-ID continues every job of the stream at its place, and 204 says that nothing will follow", async () => {
    const organization = await service.newOrganization();
    const { token } = organization.owner;
    const jobs = [await newJob(organization), await newJob(organization)];
    const names = jobs.map(({ name }) => name);
    const all: string[] = [];
    let lastId = "";
    for await (const { id, data } of eventsOf<Told>(await connect(token, names))) {
      lastId = id;
      all.push(`${data.jobId} ${data.entry?.sequence}`);
      if (all.length === 3) break;
    }
    for (const job of jobs) await job.approve();
    for await (const { id, data } of eventsOf<Told>(await connect(token, names, lastId))) {
      lastId = id;
      all.push(`${data.jobId} ${data.entry?.sequence}`);
    }
    expect(new Set(all).size).toBe(all.length);
    for (const { jobId } of jobs) {
      const own = all.filter((one) => one.startsWith(jobId));
      expect(own).toEqual(own.map((_, index) => `${jobId} ${index + 1}`));
    }
    expect((await connect(token, names, lastId)).status).toBe(204);
  });

  test("a job that is unknown, or that the caller cannot read, is reported in the stream and stops none of the others", async () => {
    const organization = await service.newOrganization();
    const foreign = await newJob(await service.newOrganization());
    const closed = await service.newOrganization();
    await service.addMember(closed.organizationId, organization.owner.userId, []);
    const own = await newJob(organization, straightDefinition);
    const names = [
      `${organization.organizationId}/${unknownId}`,
      `${organization.organizationId}/nonsense`,
      foreign.name,
      (await newJob(closed)).name,
      own.name,
    ];
    const told = new Map<string, string>();
    for await (const { data } of eventsOf<Told>(await connect(organization.owner.token, names))) {
      const { organizationId, jobId, problem } = data;
      told.set(`${organizationId}/${jobId}`, problem === undefined ? "read" : problem.code);
      if (problem?.code === "AuthorizationError") expect(problem.detail).toContain("job:read");
    }
    expect(names.map((name) => told.get(name))).toEqual([
      "NotFoundError",
      "NotFoundError",
      "NotFoundError",
      "AuthorizationError",
      "read",
    ]);
    // A client that reconnects may not have received the problem yet. So it gets the stream, and not 204, after which it would not connect again.
    expect((await connect(organization.owner.token, [foreign.name], "0")).status).toBe(200);
  });

  test("a caller who loses access to one organization loses its jobs and waiting places within seconds, and keeps the others", async () => {
    const organization = await service.newOrganization();
    const other = await service.newOrganization();
    const member = await service.newMember(organization, ["viewer"]);
    await service.addMember(other.organizationId, member.userId, ["viewer"]);
    const lost = await newJob(organization);
    const kept = await newJob(other);
    const types: string[] = [];
    for await (const { type, data } of eventsOf<Told>(await connect(member.token, [lost.name, kept.name]))) {
      types.push(`${data.jobId} ${type}`);
      if (type === "step.waiting" && data.jobId === kept.jobId)
        await organization.api.call("RemoveMember", { params: { userId: member.userId } });
      if (type !== "job.unreadable") continue;
      expect(waiting(organization)).toBe(0);
      expect(waiting(other)).toBe(1);
      await kept.approve();
    }
    expect(types).toContain(`${lost.jobId} job.unreadable`);
    expect(types.at(-1)).toBe(`${kept.jobId} job.succeeded`);
  });

  test("a narrow token follows only the jobs within its bound", async () => {
    const organization = await service.newOrganization();
    const inside = await newJob(organization, straightDefinition);
    const outside = await newJob(organization, straightDefinition);
    const bounds = { permissions: ["job:read"], workflowIds: [inside.workflowId] } as const;
    const { token } = await storeToken(service, organization.organizationId, bounds);
    const types = new Map<string, string>();
    for await (const { type, data } of eventsOf<Told>(await connect(token, [inside.name, outside.name])))
      types.set(data.jobId, type);
    expect(types).toEqual(
      new Map([
        [inside.jobId, "job.succeeded"],
        [outside.jobId, "job.unreadable"],
      ]),
    );
  });

  test("the stream ends soon after its token is revoked", async () => {
    const organization = await service.newOrganization();
    const job = await newJob(organization);
    const { body: created } = await organization.api.call<{ token: string; tokenId: string }>("CreateApiToken", {
      body: { name: "t", permissions: ["job:read"] },
    });
    const events = eventsOf<Told>(await connect(created.token, [job.name]));
    await events.next();
    await organization.api.call("RevokeApiToken", { params: { tokenId: created.tokenId } });
    const revokedAt = performance.now();
    for await (const _ of events);
    expect(performance.now() - revokedAt).toBeLessThan(timeLimit(3_000));
  });

  test("a stream of no job, of too many, with an invalid id, or continued with the id of another stream is 400", async () => {
    const { owner, organizationId } = await service.newOrganization();
    const names = (count: number) =>
      Array.from({ length: count }, (_, index) => `${organizationId}/${unknownId.slice(0, -2)}${10 + index}`);
    const asked = [
      connect(owner.token, []),
      connect(owner.token, names(51)),
      connect(owner.token, ["x"]),
      connect(owner.token, names(2), "1"),
      connect(owner.token, names(1), "x"),
      connect(owner.token, names(1), "1234567890"),
    ];
    for (const answer of asked) expect((await answer).status).toBe(400);
    expect((await connect(owner.token, names(50))).status).toBe(200);
  });

  test("an organization with all of its waiting places in use does not keep another organization's jobs out of the stream", async () => {
    const narrow = new TestService(home, { STEPWELL_MAX_WAITING_REQUESTS_PER_ORGANIZATION: "1" });
    await narrow.start();
    try {
      const full = await narrow.newOrganization();
      const other = await narrow.newOrganization(full.owner);
      const jobs = [await newJob(full), await newJob(full), await newJob(other)];
      const headers = { authorization: `Bearer ${full.owner.token}` };
      const query = jobs.map(({ name }) => `job=${name}`).join("&");
      const events = eventsOf<Told>(await fetch(`${narrow.baseUrl}/stream?${query}`, { headers }));
      const told = new Map<string, Told>();
      for await (const { type, data } of events) {
        told.set(`${data.jobId} ${type === "job.unreadable"}`, data);
        if (told.size === 3) break;
      }
      expect(told.get(`${jobs[1]?.jobId} true`)).toMatchObject({ problem: { code: "RateLimitError" } });
      expect([told.has(`${jobs[0]?.jobId} false`), told.has(`${jobs[2]?.jobId} false`)]).toEqual([true, true]);
    } finally {
      await narrow.stop();
    }
  });

  test("a quiet stream frees the places of all of its jobs as soon as its client disconnects", async () => {
    const organization = await service.newOrganization();
    const jobs = [await newJob(organization), await newJob(organization)];
    const names = jobs.map(({ name }) => name);
    let quiet = 0;
    for await (const { type } of eventsOf(await connect(organization.owner.token, names))) {
      if (type === "step.waiting") quiet += 1;
      if (quiet === jobs.length) break;
    }
    await expect.poll(() => waiting(organization), { timeout: secondWithSlackMs, interval: 20 }).toBe(0);
  });

  test("each job of a stream uses a waiting place, and a stream without enough places for all of its jobs uses none", async () => {
    const narrow = new TestService(home, { STEPWELL_MAX_WAITING_REQUESTS: "1" });
    await narrow.start();
    try {
      const organization = await narrow.newOrganization();
      const jobs = [await newJob(organization), await newJob(organization)];
      const headers = { authorization: `Bearer ${organization.owner.token}` };
      const query = jobs.map(({ name }) => `job=${name}`).join("&");
      const response = await fetch(`${narrow.baseUrl}/stream?${query}`, { headers });
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
      expect(narrow.running.engine.gauges().waitingRequests).toBe(0);
    } finally {
      await narrow.stop();
    }
  });
});
