import type { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { expect, test, vi } from "vitest";

interface Step {
  readonly name: string;
  readonly visit: number;
  readonly status: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly valuesLeftOut?: true;
}

type SteppedJob = Omit<JobBody, "steps"> & {
  readonly steps: readonly Step[];
  readonly earlierStepRuns?: Readonly<Record<string, number>>;
};

onOneStore((home) => {
  const service = useService(home);

  async function pagesOf(api: Client, jobId: string, query: Record<string, string | number> = {}): Promise<Step[][]> {
    const pages: Step[][] = [];
    for (let pageToken: string | undefined; ; ) {
      const { body } = await api.call<{ steps: Step[]; nextPageToken?: string }>("ListJobSteps", {
        params: { jobId },
        query: { ...query, ...(pageToken !== undefined && { pageToken }) },
      });
      pages.push(body.steps);
      pageToken = body.nextPageToken;
      if (pageToken === undefined) return pages;
    }
  }

  const get = async (api: Client, jobId: string) =>
    (await api.call<SteppedJob>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } })).body;

  const untilItWaits = (api: Client, jobId: string) =>
    vi.waitFor(
      async () => {
        const { body } = await api.call<SteppedJob>("GetJob", { params: { jobId } });
        expect(body.currentStep?.status).toBe("successful_but_incomplete");
      },
      { timeout: 20_000, interval: 20 },
    );

  test("ListJobSteps lists the same steps as GetJob, in pages and filtered by status", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      definitionOf(waitStep("w", ["x"], "a"), noopStep("a", "v"), waitStep("v", ["y"], null)),
    );
    const { jobId } = await submitAndWait(api, workflowId, { n: 1 });
    // In the history, these events are between the start and the end of the step `w`.
    for (const eventId of ["other", "x"]) await api.call("SendJobEvent", { params: { jobId }, body: { eventId } });
    const { steps } = (await api.call<SteppedJob>("GetJob", { params: { jobId } })).body;

    expect(await pagesOf(api, jobId)).toEqual([steps]);
    expect(await pagesOf(api, jobId, { pageSize: 1 })).toEqual(steps.map((step) => [step]));
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ["w", "success"],
      ["a", "success"],
      ["v", "successful_but_incomplete"],
    ]);
    const waiting = await pagesOf(api, jobId, { status: "successful_but_incomplete" });
    expect(waiting).toEqual([[steps[2]]]);
    expect(await pagesOf(api, jobId, { status: "failure" })).toEqual([[]]);
    await api.refused("ListJobSteps", "ValidationError", { params: { jobId }, query: { status: "done" } });
  });

  test("GetJob shows the newest 1,000 step runs and counts the earlier ones by step, and ListJobSteps has all", async () => {
    const { api, organizationId } = await service.newOrganization();
    const { workflowId } = await deploy(api, loopingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    for (const more of [true, true, true, false]) {
      await untilItWaits(api, jobId);
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "go", payload: { more } } });
    }
    const job = await get(api, jobId);
    expect(job.status).toBe("SUCCEEDED");
    const pages = await pagesOf(api, jobId, { pageSize: 200 });
    const all = pages.flat();
    // The step runs are the first step, three rounds of the wait and the chain, a fourth round that ends at the first step of the chain, and the last
    // step.
    expect(all).toHaveLength(1 + 3 * (chainLength + 1) + 3);
    expect(pages.slice(0, -1).map((page) => page.length)).toEqual(pages.slice(0, -1).map(() => 200));
    expect(job.steps).toEqual(all.slice(-1_000));
    const earlier = new Map<string, number>();
    for (const { name } of all.slice(0, -1_000)) earlier.set(name, (earlier.get(name) ?? 0) + 1);
    expect(job.earlierStepRuns).toEqual(Object.fromEntries(earlier));
    expect(job.earlierStepRuns).toHaveProperty("once", 1);

    // Writes the state as a release without these counts wrote it.
    const older = said(`UPDATE job SET state = '{"status":"SUCCEEDED"}' WHERE organization_id = $1 AND job_id = $2`);
    await service.running.database.query(older, [organizationId, jobId]);
    expect(await get(api, jobId)).toEqual(job);
  });

  inWholeMatrix(() => {
    test("ListJobSteps has the values that GetJob leaves out, a few in each page", async () => {
      const { api } = await service.newOrganization();
      const chain = Array.from({ length: 12 }, (_, index) =>
        noopStep(`s${index}`, index === 11 ? null : `s${index + 1}`),
      );
      const { workflowId } = await deploy(api, definitionOf(...chain));
      const input = { text: "x".repeat(1_000_000) };
      const { jobId } = await submitAndWait(api, workflowId, input);
      const { steps } = await get(api, jobId);
      const leftOut = ["s0", "s1", "s2", "s3", "s4"];
      expect(steps.filter(({ valuesLeftOut }) => valuesLeftOut).map(({ name }) => name)).toEqual(leftOut);

      const pages = await pagesOf(api, jobId);
      expect(pages.map((page) => page.length)).toEqual([7, 5]);
      for (const step of pages.flat()) {
        expect(step).toMatchObject({ status: "success", input, output: input });
        expect(step).not.toHaveProperty("valuesLeftOut");
      }
    });
  });
});

const chainLength = 340;

/** Continues with another round at each event that asks for one, and ends at the first event that does not. */
const loopingDefinition = JSON.stringify({
  workflowName: "test",
  steps: [
    noopStep("once", "wait"),
    {
      name: "wait",
      integrationDetails: {
        type: "/service/waitForEventIds",
        config: { eventIds: ["go"] },
        inputDefinition: { $ref: "#/definitions/any" },
        outputDefinition: { $ref: "#/definitions/answer" },
      },
      transitionToStep: "s0",
    },
    {
      name: "s0",
      integrationDetails: {
        type: "/service/noop",
        inputDefinition: { $ref: "#/definitions/goOn" },
        outputDefinition: { $ref: "#/definitions/any" },
      },
      onFailure: "end",
      transitionToStep: "s1",
    },
    ...Array.from({ length: chainLength - 1 }, (_, index) =>
      noopStep(`s${index + 1}`, index + 2 === chainLength ? "wait" : `s${index + 2}`),
    ),
    noopStep("end", null),
  ],
  definitions: {
    any: { type: "object" },
    answer: { type: "object", properties: { more: { type: "boolean" } } },
    goOn: { type: "object", properties: { more: { enum: [true] } } },
  },
});
