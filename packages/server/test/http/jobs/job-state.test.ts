import type { Client } from "@stepwell/testing/client.ts";
import {
  definitionOf,
  failingDefinition,
  noopStep,
  waitingDefinition,
  waitStep,
} from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";

interface Metadata {
  readonly jobId: string;
  readonly status: string;
  readonly updatedAt: string;
  readonly contentLengthBytes: number;
  readonly warnings: readonly string[];
}

interface State {
  readonly nextStepName?: string;
  readonly executionData: Readonly<Record<string, unknown>>;
  readonly executionHistory: readonly Execution[];
}

interface Execution {
  readonly id: string;
  readonly stepName: string;
  readonly input: unknown;
  readonly output: { readonly status: string; readonly payload?: unknown };
  readonly warnings: readonly string[];
}

const maxRuns = 1_200;

// GetJobState makes its answer from the data of GetJob. The statements for these data are tested elsewhere on both homes of the store.
onOneStore((home) => {
  const service = useService(home, { STEPWELL_MAX_STEP_RUNS_PER_JOB: String(maxRuns) });

  async function stateOf(api: Client, jobId: string): Promise<{ state: State; metadata: Metadata }> {
    const params = { jobId };
    const { state, ...metadata } = (await api.call<Metadata & { state: State }>("GetJobState", { params })).body;
    expect(metadata.contentLengthBytes).toBe(Buffer.byteLength(JSON.stringify(state)));
    expect((await api.call("GetJobStateMetadata", { params })).body).toEqual(metadata);
    return { state, metadata };
  }

  test("a job's state contains the data of its steps, their runs, and the step that follows", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId, { sku: "ä" });
    const waiting = await stateOf(api, jobId);
    const time = expect.stringMatching(/Z$/);
    const prepared = {
      id: "prepare:1",
      stepName: "prepare",
      stepExecutorType: "/service/noop",
      historySource: "executor",
      input: { sku: "ä" },
      output: { status: "successful", payload: { sku: "ä" } },
      startTimestamp: time,
      endTimestamp: time,
      errors: [],
      warnings: [],
    };
    const approving = {
      ...prepared,
      id: "approve:1",
      stepName: "approve",
      stepExecutorType: "/service/waitForEventIds",
      historySource: "event",
    };
    const { endTimestamp: _, ...notEnded } = approving;
    expect(waiting.metadata).toMatchObject({ jobId, status: "RUNNING", warnings: [] });
    expect(waiting.state).toEqual({
      nextStepName: "approve",
      executionData: {
        workflowInput: { sku: "ä" },
        prepareInput: { sku: "ä" },
        prepareOutput: { sku: "ä" },
        approveInput: { sku: "ä" },
      },
      executionHistory: [prepared, { ...notEnded, output: { status: "successful_but_incomplete" } }],
    });

    await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved", payload: { by: "Ada" } } });
    const { body: job } = await api.call<{ steps: { input: unknown; output: unknown }[] }>("GetJob", {
      params: { jobId },
      query: { waitSeconds: 20 },
    });
    const done = await stateOf(api, jobId);
    expect(done.metadata.status).toBe("SUCCEEDED");
    expect(done.state).not.toHaveProperty("nextStepName");
    expect(done.state.executionHistory).toMatchObject([
      prepared,
      { ...approving, eventId: "approved", output: { status: "successful", payload: job.steps[1]?.output } },
      { id: "finish:1", historySource: "executor" },
    ]);
    expect(done.state.executionHistory.at(-1)).not.toHaveProperty("eventId");
    expect(done.state.executionData).toMatchObject({
      approveOutput: job.steps[1]?.output,
      finishInput: job.steps[2]?.input,
      finishOutput: job.steps[2]?.output,
    });
  });

  test("a job that failed or was cancelled names the step where a resume continues", async () => {
    const { api } = await service.newOrganization();
    const failing = await deploy(api, failingDefinition);
    const failed = await submitAndWait(api, failing.workflowId);
    expect((await stateOf(api, failed.jobId)).state).toMatchObject({
      nextStepName: "second",
      executionHistory: [
        { output: { status: "successful" } },
        { id: "second:1", output: { status: "failed" }, errors: [{ code: "InputMismatch" }] },
      ],
    });

    const waiting = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, waiting.workflowId);
    await api.call("CancelJob", { params: { jobId } });
    const { state, metadata } = await stateOf(api, jobId);
    expect(metadata.status).toBe("CANCELLED");
    expect(state).toMatchObject({ nextStepName: "approve" });
    expect(state.executionHistory.at(-1)).toMatchObject({
      output: { status: "successful_but_incomplete" },
      endTimestamp: expect.stringMatching(/Z$/),
      errors: [],
    });
  });

  test("a choice is shown in the history, and only after its step has succeeded", async () => {
    const { api } = await service.newOrganization();
    const choice = { choose: [{ if: "output.isGood", then: "good" }], else: null };
    const gate = { ...waitStep("gate", ["checked"], null), transitionToStep: choice };
    const { workflowId } = await deploy(api, definitionOf(gate, noopStep("good", null)));
    for (const [isGood, next] of [
      [true, "good"],
      [false, null],
    ] as const) {
      const { jobId } = await submitAndWait(api, workflowId, { isGood });
      expect((await stateOf(api, jobId)).state).toMatchObject({ nextStepName: "gate" });
      await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "checked" } });
      await api.call("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
      const { body } = await api.call<{ entries: { type: string }[] }>("GetJobHistory", { params: { jobId } });
      expect(body.entries.find(({ type }) => type === "step.succeeded")).toMatchObject({ step: "gate", next });
      expect((await stateOf(api, jobId)).state).not.toHaveProperty("nextStepName");
    }
  });

  test("a step that is named workflow does not replace the job's input", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(
      api,
      definitionOf(waitStep("w", ["x"], "workflow"), noopStep("workflow", null)),
    );
    const { jobId } = await submitAndWait(api, workflowId, { n: 1 });
    await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "x", payload: 2 } });
    await api.call("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
    const { executionData } = (await stateOf(api, jobId)).state;
    expect(executionData.workflowInput).toEqual({ n: 1 });
    expect(executionData).toHaveProperty("workflowOutput");
  });

  test("the newest 1,000 of 1,200 step runs are shown, and a warning says so", async () => {
    const { api } = await service.newOrganization();
    // A loop must have a way out, but the job never takes it here.
    const loop = { ...noopStep("b", "a"), onFailure: "end" };
    const { workflowId } = await deploy(api, definitionOf(noopStep("a", "b"), loop, noopStep("end", null)));
    const { jobId } = await submitAndWait(api, workflowId, { n: 1 });
    const { state, metadata } = await stateOf(api, jobId);
    expect(metadata.warnings).toEqual([
      `The state has only the newest 1000 of ${maxRuns} step runs. ListJobSteps has the others.`,
    ]);
    const { executionHistory } = state;
    expect(executionHistory).toHaveLength(1_000);
    expect(executionHistory.map(({ id }) => id).slice(0, 2)).toEqual(["a:101", "b:101"]);
    expect(executionHistory.at(-1)?.id).toBe("b:600");
    expect(state.executionData).toEqual({
      workflowInput: { n: 1 },
      aInput: { n: 1 },
      aOutput: { n: 1 },
      bInput: { n: 1 },
      bOutput: { n: 1 },
    });
  });

  test("only 16 MB of values are shown, those of the latest runs, and warnings name the runs without values", async () => {
    const { api } = await service.newOrganization();
    const steps = Array.from({ length: 8 }, (_, index) => noopStep(`s${index}`, index === 7 ? null : `s${index + 1}`));
    const { workflowId } = await deploy(api, definitionOf(...steps));
    const input = { text: "x".repeat(1_000_000) };
    const { jobId } = await submitAndWait(api, workflowId, input);
    const { state, metadata } = await stateOf(api, jobId);
    expect(metadata.contentLengthBytes).toBeLessThan(16_100_000);
    expect(metadata.warnings).toHaveLength(1);
    expect(metadata.warnings[0]).toMatch(/16 MB, so the earliest 5 step runs are shown here without/);
    // `executionData` and `executionHistory` both have the input and the output of a run. So a run takes 4 MB, and three runs and the job's input
    // take 13 MB.
    const without = state.executionHistory.slice(0, 5);
    for (const { input: shown, output, warnings } of without) {
      expect([shown, output]).toEqual([null, { status: "successful" }]);
      expect(warnings).toEqual(["The input and the output of this run are left out. ListJobSteps has them."]);
    }
    const whole = state.executionHistory.slice(5);
    expect(whole.map(({ stepName }) => stepName)).toEqual(["s5", "s6", "s7"]);
    for (const { input: shown, output, warnings } of whole) {
      expect([shown, output.payload, warnings]).toEqual([input, input, []]);
    }
    const shown = ["s5", "s6", "s7"].flatMap((name) => [`${name}Input`, `${name}Output`]);
    expect(Object.keys(state.executionData).sort()).toEqual([...shown, "workflowInput"].sort());
  });
});
