import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep, waitingDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { type TestService, useService } from "@stepwell/testing/service.ts";
import { onEveryStore, onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

interface ListedEvent {
  readonly eventId: string;
  readonly outcome: string;
  readonly reason: string;
  readonly duplicateCount: number;
  readonly consumedByStep?: string;
}

const settings = { STEPWELL_MAX_EVENTS_PER_JOB: "50" };

async function waitingJob(
  service: TestService,
  definition = waitingDefinition,
): Promise<{ api: Client; params: { jobId: string } }> {
  const { api } = await service.newOrganization();
  const { workflowId } = await deploy(api, definition);
  const { jobId } = await submitAndWait(api, workflowId);
  return { api, params: { jobId } };
}

async function send(api: Client, params: { jobId: string }, eventId: string, payload?: unknown): Promise<unknown> {
  const body = { eventId, ...(payload !== undefined && { payload }) };
  return (await api.call("SendJobEvent", { params, body })).body.outcome;
}

onEveryStore((home) => {
  const service = useService(home, settings);

  test("an event that a later step awaits is kept, and counts when that step is reached", async () => {
    const { api, params } = await waitingJob(
      service,
      definitionOf(waitStep("one", ["a"], "two"), waitStep("two", ["b"], null)),
    );
    expect(await send(api, params, "b", { early: true })).toBe("buffered");
    expect(await send(api, params, "a")).toBe("matched");
    const { body } = await api.call<JobBody>("GetJob", { params, query: { waitSeconds: 20 } });
    expect(body.status).toBe("SUCCEEDED");
    const list = await api.call<{ events: ListedEvent[] }>("ListJobEvents", { params });
    expect(list.body.events).toMatchObject([
      {
        eventNumber: 1,
        eventId: "b",
        outcome: "buffered",
        payload: { early: true },
        consumedByStep: "two",
        consumedByVisit: 1,
      },
      { eventNumber: 2, eventId: "a", outcome: "matched", consumedByStep: "one" },
    ]);
  });

  test("an event that is sent again before it is consumed is a duplicate and has no effect", async () => {
    const { api, params } = await waitingJob(service, definitionOf(waitStep("w", ["a", "b"], null)));
    expect(await send(api, params, "a", 1)).toBe("matched");
    expect(await send(api, params, "a", 2)).toBe("duplicate");
    expect(await send(api, params, "typo")).toBe("unmatched");
    expect(await send(api, params, "typo")).toBe("duplicate");
    const { body } = await api.call<{ events: ListedEvent[] }>("ListJobEvents", { params });
    expect(body.events).toMatchObject([
      { eventId: "a", payload: 1, duplicateCount: 1 },
      { eventId: "typo", duplicateCount: 1 },
    ]);
  });

  test("a finished job accepts no more events, but a repetition under the same key gets its first answer", async () => {
    const { api, params } = await waitingJob(service);
    const first = { params, body: { eventId: "approved" }, headers: { "idempotency-key": "k" } };
    expect((await api.call("SendJobEvent", first)).body.outcome).toBe("matched");
    await api.call("GetJob", { params, query: { waitSeconds: 20 } });
    await api.refused("SendJobEvent", "ConflictError", { params, body: { eventId: "approved" } });
    expect((await api.call("SendJobEvent", first)).body.outcome).toBe("matched");
  });

  test("a hundred simultaneous sendings of one event leave one record", async () => {
    const { api, params } = await waitingJob(service, definitionOf(waitStep("w", ["a", "b"], null)));
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => send(api, params, "a")));
    expect(outcomes.filter((outcome) => outcome === "matched")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "duplicate")).toHaveLength(99);
    const { body } = await api.call<{ events: ListedEvent[] }>("ListJobEvents", { params });
    expect(body.events).toMatchObject([{ eventId: "a", duplicateCount: 99 }]);
  });

  test("a payload of null is different from no payload", async () => {
    const { api, params } = await waitingJob(
      service,
      definitionOf(waitStep("w", ["a", "b", "c"], "n"), noopStep("n", null)),
    );
    await send(api, params, "a", null);
    await send(api, params, "b");
    const { body } = await api.call<{ events: object[] }>("ListJobEvents", { params });
    expect(body.events[0]).toHaveProperty("payload", null);
    expect(body.events[1]).not.toHaveProperty("payload");
  });
});

/* These tests need only one store: which events are rejected, and what is shown of them, does not depend on the store. */
onOneStore((home) => {
  const service = useService(home, settings);

  test.each([
    ["no eventId", {}],
    ["an empty eventId", { eventId: "" }],
    ["an eventId that is a number", { eventId: 1 }],
    ["an eventId of 300 characters", { eventId: "x".repeat(300) }],
    ["an eventId with a control character", { eventId: "a\tb" }],
    ["an eventId with NUL", { eventId: "a\0b" }],
    ["an unknown field beside the payload", { eventId: "approved", payload: 1, extra: 1 }],
  ])("%s is 400 and nothing is kept", async (_name, body) => {
    const { api, params } = await waitingJob(service);
    await api.refused("SendJobEvent", "ValidationError", { params, body });
    expect((await api.call("ListJobEvents", { params })).body).toEqual({ events: [] });
  });

  test("an event that no step names is kept, and the list says why it matched nothing", async () => {
    const { api, params } = await waitingJob(service);
    expect(await send(api, params, "aproved")).toBe("unmatched");
    const { body } = await api.call<{ events: ListedEvent[] }>("ListJobEvents", { params });
    expect(body.events[0]?.reason).toBe("No step of version 1 lists this id; did you mean `approved`?");
  });

  test("a job with the maximum number of events answers 429 with Retry-After", async () => {
    const { api, params } = await waitingJob(service);
    for (let index = 0; index < 50; index += 1) expect(await send(api, params, `other ${index}`)).toBe("unmatched");
    const { headers } = await api.refused("SendJobEvent", "RateLimitError", { params, body: { eventId: "one more" } });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test.each(["Approved", "APPROVED", "approved ", "approve\u0301d"])(
    "%j is a different event than `approved`",
    async (eventId) => {
      const { api, params } = await waitingJob(service);
      expect(await send(api, params, eventId)).toBe("unmatched");
    },
  );
});
