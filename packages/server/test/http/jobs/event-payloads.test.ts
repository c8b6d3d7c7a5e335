import type { Client } from "@stepwell/testing/client.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

const maxBatchBytes = 64 * 1024;

/** The payload of an event must reach the step that uses it, whenever and however often the event is sent. */
onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_BATCH_BYTES: String(maxBatchBytes) });

  async function jobOf(steps: readonly object[], inputJson: object = { sku: "S" }): Promise<Sending> {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, JSON.stringify({ workflowName: "test", steps, definitions }));
    const { jobId } = await submitAndWait(api, workflowId, inputJson);
    return new Sending(api, jobId);
  }

  test.each([true, false])(
    "a decision of %s reaches the last step, even if it is sent before the job waits for it",
    async (approved) => {
      const job = await jobOf([wait("paid", ["paid"], "approve"), approve("approve", "act"), act]);
      expect(await job.send("approved", { payload: { approved, comment: "so be it" } })).toMatchObject({
        outcome: "buffered",
        warnings: [],
      });
      await job.send("paid");
      expect(await job.end()).toMatchObject({ status: "SUCCEEDED", output: { sku: "S", approved } });
    },
  );

  test("one event lets the job run through all waits whose events have arrived, and each takes its own payload", async () => {
    const job = await jobOf([
      wait("paid", ["paid"], "approve"),
      approve("approve", "again"),
      approve("again", "act", ["approved again", "and again"]),
      act,
    ]);
    await job.send("approved", { payload: { approved: true } });
    await job.send("approved again", { payload: { approved: false } });
    await job.send("and again");
    await job.send("paid", { payload: { note: "nobody declares it" } });
    const ended = await job.end();
    expect(ended).toMatchObject({ status: "SUCCEEDED", output: { sku: "S", approved: false } });
    expect(ended.steps.map(({ output }) => output)).toMatchObject([{}, { approved: true }, { approved: false }, {}]);
  });

  test("simultaneous events all bring their payloads", async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `part ${index}`);
    const properties = Object.fromEntries(ids.map((id) => [id, {}]));
    const all = { type: "object", properties, additionalProperties: false };
    const steps = [{ ...wait("gather", ids, null), integrationDetails: { ...details(ids, "input", "all") } }];
    const { api } = await service.newOrganization();
    const definition = JSON.stringify({ workflowName: "test", steps, definitions: { ...definitions, all } });
    const { workflowId } = await deploy(api, definition);
    const { jobId } = await submitAndWait(api, workflowId, { sku: "S" });
    const job = new Sending(api, jobId);
    await Promise.all(ids.map((id) => job.send(id, { payload: { [id]: id } })));
    expect((await job.end()).output).toEqual(Object.fromEntries(ids.map((id) => [id, id])));
  });

  test("an answer names the parts of the payload that reach no step, also when it is repeated under the same key", async () => {
    const job = await jobOf([approve("approve", "act"), act]);
    const more = { payload: { approved: true, aproved: true }, key: "once" };
    const first = await job.send("approved", more);
    expect(first).toMatchObject({ outcome: "matched", warnings: [{ pointer: "/payload/aproved" }] });
    await job.end();
    expect(await job.send("approved", more)).toEqual(first);
  });

  test("a payload that does not fit is rejected with a pointer, and nothing is kept", async () => {
    const job = await jobOf([approve("approve", "act"), act]);
    const { body } = await job.refused("ValidationError", { eventId: "approved", payload: { approved: "yes" } });
    expect(body).toMatchObject({ errors: [{ pointer: "/payload/approved" }] });
    expect(await job.events()).toEqual([]);
  });

  test("a second event for one visit of a step does not count for the next visit", async () => {
    const steps = [
      { ...approve("approve", "act") },
      { ...act, integrationDetails: { ...act.integrationDetails, inputDefinition: ref("yes") }, onFailure: "approve" },
    ];
    const job = await jobOf(steps);
    const visit = { step: "approve", visit: 1 };
    await job.send("approved", { ...visit, payload: { approved: false } });
    await job.refused("ConflictError", { eventId: "approved", ...visit, payload: { approved: true } });
    expect(await job.now()).toMatchObject({ currentStep: { name: "approve", status: "successful_but_incomplete" } });
    expect(await job.send("approved", { step: "approve", payload: { approved: true } })).toMatchObject({
      outcome: "matched",
    });
    expect(await job.end()).toMatchObject({ status: "SUCCEEDED", output: { sku: "S", approved: true } });
    expect(await job.events()).toMatchObject([
      { step: "approve", visit: 1, consumedByVisit: 1 },
      { step: "approve", visit: 2, consumedByVisit: 2 },
    ]);
  });

  test("payloads above the limit of one commit fail the wait, and smaller ones let the resumed job continue", async () => {
    const ids = ["a", "b", "c"];
    const job = await jobOf([{ ...approve("approve", "act", ids) }, act]);
    const comment = "x".repeat(maxBatchBytes * 0.6);
    await job.send("a", { payload: { comment } });
    await job.send("b", { payload: { comment } });
    await job.send("c", { payload: { approved: true } });
    expect(await job.end()).toMatchObject({ status: "FAILED", error: { code: "OutputTooLarge", step: "approve" } });
    await job.resume();
    for (const id of ids) await job.send(id, { payload: { approved: true } });
    expect(await job.end()).toMatchObject({ status: "SUCCEEDED", output: { approved: true } });
  });

  test("payloads for later visits do not reduce the room for those of the wait that completes", async () => {
    const job = await jobOf([approve("approve", "act", ["a", "b"]), act]);
    const large = { payload: { approved: true, comment: "x".repeat(maxBatchBytes * 0.6) } };
    await job.send("a", { ...large, step: "approve", visit: 2 });
    await job.send("a", { ...large, step: "approve", visit: 3 });
    await job.send("a", { payload: { approved: false } });
    await job.send("b");
    expect(await job.end()).toMatchObject({ status: "SUCCEEDED", output: { sku: "S", approved: false } });
  });

  test("jobs whose payloads are too large for one commit take several commits", async () => {
    const { api } = await service.newOrganization();
    const steps = [approve("approve", "act", ["a", "b"]), act];
    const { workflowId } = await deploy(api, JSON.stringify({ workflowName: "test", steps, definitions }));
    const jobs = await Promise.all(
      Array.from(
        { length: 6 },
        async () => new Sending(api, (await submitAndWait(api, workflowId, { sku: "S" })).jobId),
      ),
    );
    const comment = "x".repeat(maxBatchBytes * 0.4);
    await Promise.all(jobs.map((job) => job.send("a", { payload: { approved: true, comment } })));
    await Promise.all(jobs.map((job) => job.send("b")));
    for (const job of jobs) expect(await job.end()).toMatchObject({ status: "SUCCEEDED", output: { approved: true } });
  });

  test("a job continues if its events were stored by a release whose state did not list the events with payloads", async () => {
    const job = await jobOf([approve("approve", "act", ["a", "b", "c"]), act]);
    await job.send("a");
    await job.send("b", { payload: { approved: true } });
    const forget = said("UPDATE job SET state = (state::jsonb #- '{progress,bareEvents}')::json WHERE job_id = $1");
    await service.running.database.query(forget, [job.jobId]);
    await job.send("c");
    expect(await job.end()).toMatchObject({ status: "SUCCEEDED", output: { sku: "S", approved: true } });
  });
});

interface More {
  readonly payload?: unknown;
  readonly step?: string;
  readonly visit?: number;
  readonly key?: string;
}

class Sending {
  readonly jobId: string;
  readonly #api: Client;
  readonly #params: { jobId: string };

  constructor(api: Client, jobId: string) {
    this.#api = api;
    this.jobId = jobId;
    this.#params = { jobId };
  }

  async send(eventId: string, { key, ...more }: More = {}): Promise<object> {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    const { body } = await this.#api.call<object>("SendJobEvent", {
      params: this.#params,
      headers,
      body: { eventId, ...more },
    });
    return body;
  }

  async refused(code: "ValidationError" | "ConflictError", body: object) {
    return await this.#api.refused("SendJobEvent", code, { params: this.#params, body });
  }

  async now(): Promise<JobBody> {
    return (await this.#api.call<JobBody>("GetJob", { params: this.#params })).body;
  }

  async end(): Promise<JobBody> {
    return (await this.#api.call<JobBody>("GetJob", { params: this.#params, query: { waitSeconds: 20 } })).body;
  }

  async resume(): Promise<void> {
    await this.#api.call("ResumeJob", { params: this.#params });
  }

  async events(): Promise<object[]> {
    return (await this.#api.call<{ events: object[] }>("ListJobEvents", { params: this.#params })).body.events;
  }
}

function ref(name: string): object {
  return { $ref: `#/definitions/${name}` };
}

function details(eventIds: readonly string[], input: string, output: string): object {
  const config = { eventIds };
  return { type: "/service/waitForEventIds", config, inputDefinition: ref(input), outputDefinition: ref(output) };
}

function wait(name: string, eventIds: readonly string[], transitionToStep: string | null): object {
  return { name, integrationDetails: details(eventIds, "input", "input"), transitionToStep };
}

function approve(name: string, transitionToStep: string, eventIds: readonly string[] = ["approved"]): object {
  return { name, integrationDetails: details(eventIds, "input", "decided"), transitionToStep };
}

const act = {
  name: "act",
  integrationDetails: { type: "/service/noop", inputDefinition: ref("decision"), outputDefinition: ref("decision") },
  transitionToStep: null,
};

const sku = { type: "string" };
const approved = { type: "boolean" };
const definitions = {
  input: { type: "object", properties: { sku }, required: ["sku"], additionalProperties: false },
  decided: { type: "object", properties: { sku, approved, comment: sku }, additionalProperties: false },
  decision: { type: "object", properties: { sku, approved }, additionalProperties: false },
  yes: { type: "object", properties: { sku, approved: { const: true } }, additionalProperties: false },
};
