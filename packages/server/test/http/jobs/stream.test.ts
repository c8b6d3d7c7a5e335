import {
  definitionOf,
  noopStep,
  straightDefinition,
  waitingDefinition,
  waitStep,
} from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { eventsOf, type StreamedEvent } from "@stepwell/testing/server-sent.ts";
import { type TestOrganization, TestService, useService } from "@stepwell/testing/service.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { expect, test } from "vitest";

interface Entry {
  readonly sequence: number;
}

onOneStore((home) => {
  const service = useService(home);

  function connect(
    organization: TestOrganization,
    jobId: string,
    headers: Record<string, string> = {},
    token?: string,
  ) {
    return fetch(`${service.baseUrl}/organizations/${organization.organizationId}/jobs/${jobId}/stream`, {
      headers: { authorization: `Bearer ${token ?? organization.owner.token}`, ...headers },
    });
  }

  test("a stream sends each entry as it is committed and ends after the one that finishes the job", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const response = await connect(organization, jobId);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const seen: StreamedEvent<Entry>[] = [];
    for await (const event of eventsOf<Entry>(response)) {
      seen.push(event);
      if (event.type === "step.waiting") {
        await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
      }
    }
    const { body } = await api.call<{ entries: { sequence: number }[] }>("GetJobHistory", {
      params: { jobId },
      query: { pageSize: 200 },
    });
    expect(seen.map((event) => event.data)).toEqual(body.entries);
    expect(seen.map((event) => event.id)).toEqual(body.entries.map((entry) => String(entry.sequence)));
    expect(seen.at(-1)?.type).toBe("job.succeeded");
  });

  test("a stream continues after Last-Event-ID, and 204 says that nothing will follow", async () => {
    const organization = await service.newOrganization();
    const { workflowId } = await deploy(organization.api, straightDefinition);
    const { jobId } = await submitAndWait(organization.api, workflowId);
    const ids: string[] = [];
    for await (const event of eventsOf(await connect(organization, jobId, { "last-event-id": "3" })))
      ids.push(event.id);
    expect(ids).toEqual(["4", "5", "6", "7"]);
    expect((await connect(organization, jobId, { "last-event-id": "7" })).status).toBe(204);
  });

  test.each(["x", "-1", "1.5", "99999999999999", "1, 2"])("Last-Event-ID %s is 400", async (id) => {
    const organization = await service.newOrganization();
    const { workflowId } = await deploy(organization.api, straightDefinition);
    const { jobId } = await submitAndWait(organization.api, workflowId);
    expect((await connect(organization, jobId, { "last-event-id": id })).status).toBe(400);
  });

  test("a stream ends soon after its token is revoked", async () => {
    const organization = await service.newOrganization();
    const { api } = organization;
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const { body: token } = await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
      body: { name: "t", permissions: ["job:read"] },
    });
    const response = await connect(organization, jobId, {}, token.token);
    const events = eventsOf<Entry>(response);
    await events.next();
    await api.call("RevokeApiToken", { params: { tokenId: token.tokenId } });
    const revokedAt = performance.now();
    for await (const _ of events);
    expect(performance.now() - revokedAt).toBeLessThan(timeLimit(3_000));
  });

  test("above the maximum of waiting requests a stream is 503 with Retry-After", async () => {
    const narrow = new TestService(home, { STEPWELL_MAX_WAITING_REQUESTS: "1" });
    await narrow.start();
    const { api, organizationId, owner } = await narrow.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
    const url = `${narrow.baseUrl}/organizations/${organizationId}/jobs/${body.jobId}/stream`;
    const headers = { authorization: `Bearer ${owner.token}` };
    const first = await fetch(url, { headers });
    const second = await fetch(url, { headers });
    expect([first.status, second.status]).toEqual([200, 503]);
    expect(second.headers.get("retry-after")).toBe("2");
    // A job that needs more than one commit is accepted, although no place is left to wait for its end.
    const steps = Array.from({ length: 250 }, (_, index) =>
      noopStep(`s${index}`, index < 249 ? `s${index + 1}` : null),
    );
    const long = await deploy(api, definitionOf(...steps));
    const submitted = await api.call("SubmitJob", { query: { waitSeconds: 5 }, body: { workflowId: long.workflowId } });
    expect(submitted.body).not.toHaveProperty("steps");
    await narrow.stop();
    await first.text();
  });

  test("one organization's streams leave places for another's, and its own next stream is 429 with Retry-After", async () => {
    const narrow = new TestService(home, { STEPWELL_MAX_WAITING_REQUESTS: "20" });
    await narrow.start();
    const urlIn = async () => {
      const { api, organizationId, owner } = await narrow.newOrganization();
      const { workflowId } = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
      const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
      const url = `${narrow.baseUrl}/organizations/${organizationId}/jobs/${body.jobId}`;
      return (path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${owner.token}` } });
    };
    const [greedy, other] = [await urlIn(), await urlIn()];
    const streams = await Promise.all(Array.from({ length: 20 }, () => greedy("/stream")));
    const refused = streams.filter(({ status }) => status === 429);
    expect(streams.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(refused).toHaveLength(10);
    const left = streams.filter(({ status }) => status === 200).map(({ headers }) => headers.get("ratelimit"));
    expect(left.filter((text) => text?.endsWith(', "waitingRequests";r=4990'))).toHaveLength(1);
    expect(refused[0]?.headers.get("retry-after")).toBe("2");
    expect(await refused[0]?.json()).toMatchObject({
      code: "RateLimitError",
      detail: expect.stringContaining("STEPWELL_MAX_WAITING_REQUESTS"),
    });
    const [stream, waiting] = await Promise.all([other("/stream"), other("?waitSeconds=1")]);
    expect([stream.status, waiting.status]).toEqual([200, 200]);
    await narrow.stop();
    await Promise.all([...streams, stream].map((response) => response.bodyUsed || response.text()));
  });

  test("a quiet stream frees its place as soon as its client disconnects", async () => {
    const organization = await service.newOrganization();
    const { workflowId } = await deploy(organization.api, waitingDefinition);
    const { jobId } = await submitAndWait(organization.api, workflowId);
    const waiting = () => service.running.engine.waitingCountOf(organization.organizationId);
    for await (const { type } of eventsOf(await connect(organization, jobId))) if (type === "step.waiting") break;
    await expect.poll(waiting, { timeout: secondWithSlackMs, interval: 20 }).toBe(0);
  });

  test("a service that stops ends its streams and waiting requests, and stops without delay", async () => {
    const leaving = new TestService(home);
    await leaving.start();
    const { api, organizationId, owner } = await leaving.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    const url = `${leaving.baseUrl}/organizations/${organizationId}/jobs/${jobId}`;
    const headers = { authorization: `Bearer ${owner.token}` };
    const stream = await fetch(`${url}/stream`, { headers });
    const ended = stream.text();
    const held = fetch(`${url}?waitSeconds=60`, { headers });
    await expect.poll(() => leaving.running.engine.gauges().waitingRequests).toBe(2);
    const startedAt = performance.now();
    await leaving.stop();
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000));
    await ended;
    const answer = await held;
    expect(answer.status).toBe(200);
    expect(answer.headers.get("connection")).toBe("close");
  });
});
