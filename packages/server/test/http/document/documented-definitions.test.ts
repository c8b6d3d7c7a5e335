import { readFileSync } from "node:fs";
import { type DocumentedExample, type DocumentedLine, examplesIn } from "@stepwell/testing/api/documented-examples.ts";
import type { Answer, Client, ProblemBody } from "@stepwell/testing/client.ts";
import { type JobBody, registerVersion } from "@stepwell/testing/flow.ts";
import { type AskedRequest, AskedServer } from "@stepwell/testing/functions/asked-server.ts";
import { type FunctionCall, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, expect, test } from "vitest";
import type { PolledTask } from "../tasks/tasks.ts";

// Checks the service against docs/definitions.md. The lines below each definition say what the service does with it, in the words of the table at the
// top of the page.
const examples = examplesIn(readFileSync(new URL("../../../../../docs/definitions.md", import.meta.url), "utf8"));
const functions = await FunctionServer.start();
/** This server plays every host that the page names. */
const hosts = await AskedServer.start();
afterAll(() => Promise.all([functions.stop(), hosts.stop()]));

onOneStore((home) => {
  const service = useService(home, { ...functions.environment, STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: "127.0.0.1" });

  test.concurrent.for(examples)(
    "the definition of docs/definitions.md below “$heading” registers as the page says, and its jobs behave as described",
    async (example) => {
      const { api } = await service.newOrganization();
      const definition = example.definition.replace(/https:\/\/[a-z.]+\.example\.com/g, hosts.origin);
      const { workflowName } = JSON.parse(definition);
      const workflow = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: workflowName } });
      const inWorkflow = api.bind({ workflowId: workflow.body.workflowId });
      await checkFindings(inWorkflow, { ...example, definition });
      if (example.runs.length === 0) return;
      const { versionId } = await registerVersion(api, workflow.body.workflowId, definition);
      await inWorkflow.call("SetWorkflowVersionTag", { params: { tag: "$LIVE" }, body: { versionId } });
      await Promise.all(example.runs.map((lines) => playRun(api, workflow.body.workflowId, lines)));
    },
  );
});

/** Expects that the validation of a definition finds exactly what the page shows. */
async function checkFindings(inWorkflow: Client, { definition, findings, runs }: DocumentedExample): Promise<void> {
  const { body } = await inWorkflow.call<Record<"errors" | "warnings", readonly Finding[]>>("ValidateWorkflowVersion", {
    body: { definition },
  });
  const told = (word: string) => (finding: Finding) => ({ word, rest: `${finding.pointer} ${finding.detail}` });
  expect([...body.errors.map(told("error")), ...body.warnings.map(told("warning"))]).toEqual(findings);
  expect(findings.length + runs.length).toBeGreaterThan(0);
}

interface Finding {
  readonly pointer: string;
  readonly detail: string;
}

/** Submits the input, plays line by line what others do to the job, and compares its end with the page. */
async function playRun(api: Client, workflowId: string, [input, ...lines]: readonly DocumentedLine[]): Promise<void> {
  const body = { workflowId, inputJson: JSON.parse(input?.rest ?? "") };
  const [first] = lines;
  if (first?.word === "400" && first.rest.startsWith("/inputJson"))
    return await expectRefusal(api.refused("SubmitJob", "ValidationError", { body }), first.rest);
  const { jobId } = (await api.call<JobBody>("SubmitJob", { body })).body;
  const job = api.bind({ jobId });
  for (const { word, rest } of lines) await actions[word]?.(job, jobId, rest);
  const ended = await job.call<EndedJob>("GetJob", { query: { waitSeconds: 20 } });
  for (const { word, rest } of lines) await checks[word]?.(ended.body, rest);
  expect(lines.at(-1)?.word).toMatch(/^(output|fails)$/);
  expect(lines.filter(({ word }) => !(word in actions) && !(word in checks))).toEqual([]);
}

interface EndedJob extends JobBody {
  readonly error?: { readonly code: string; readonly type?: string };
}

/** What others do to a job. */
const actions: Readonly<Record<string, (job: Client, jobId: string, rest: string) => Promise<unknown>>> = {
  answers: async (_job, jobId, rest) => {
    const [name, output] = split(rest);
    (await nextCall(jobId, name)).succeed(JSON.parse(output));
  },
  throws: async (_job, jobId, rest) => {
    const [name, type] = split(rest);
    (await nextCall(jobId, name)).fail(type);
  },
  hangs: (_job, jobId, name) => nextCall(jobId, name),
  asks: async (_job, jobId, rest) => {
    const request = await hosts.nextRequest(jobId);
    const [method, pathAndBody] = split(rest);
    const [path, body] = split(pathAndBody);
    expect({ ...request, body: JSON.parse(request.body) }).toMatchObject({ method, path, body: JSON.parse(body) });
    asked.set(jobId, request);
  },
  responds: async (_job, jobId, rest) => {
    const [status, body] = split(rest);
    asked.get(jobId)?.respond(Number(status), body === "" ? undefined : JSON.parse(body));
  },
  does: async (job, jobId, rest) => {
    const [queue, output] = split(rest);
    const params = { taskId: await nextTask(job, queue, jobId) };
    await job.call("CompleteTask", { params, body: { output: JSON.parse(output) } });
  },
  refuses: async (job, jobId, rest) => {
    const [queue, type] = split(rest);
    const params = { taskId: await nextTask(job, queue, jobId) };
    await job.call("FailTask", { params, body: { message: "No.", type, retryable: false } });
  },
  event: (job, _jobId, rest) => job.call("SendJobEvent", { body: eventOf(rest) }),
  400: (job, _jobId, rest) => {
    const [, event = "", problem = ""] = /^(.*?) (\/.*)$/.exec(rest) ?? [];
    return expectRefusal(job.refused("SendJobEvent", "ValidationError", { body: eventOf(event) }), problem);
  },
};

/** How lines about a job that has ended are checked. */
const checks: Readonly<Record<string, (job: EndedJob, rest: string) => void>> = {
  receives: ({ steps }, rest) => {
    const [name, input] = split(rest);
    expect(steps.find((step) => step.name === name)).toMatchObject({ input: JSON.parse(input) });
  },
  steps: ({ steps }, rest) => expect(steps.map(({ name }) => name).join(" → ")).toBe(rest),
  output: ({ status, output, error }, rest) =>
    expect({ status, output, error }).toEqual({ status: "SUCCEEDED", output: JSON.parse(rest) }),
  fails: ({ status, error }, rest) =>
    expect([status, error?.code, error?.type].filter((word) => word !== undefined).join(" ")).toBe(`FAILED ${rest}`),
};

/** The request that each job has sent and that waits for its answer, by the id of the job. */
const asked = new Map<string, AskedRequest>();

/** The ids of the tasks that were polled and not yet used, by the id of the job: a poll may return tasks of other jobs, too. */
const taken = new Map<string, string>();

async function nextTask(api: Client, queue: string, jobId: string): Promise<string> {
  while (!taken.has(jobId)) {
    const { body } = await api.call<{ tasks: PolledTask[] }>("PollTasks", {
      params: { queue },
      query: { waitSeconds: 1 },
      body: { maxTasks: 10 },
    });
    for (const task of body.tasks) taken.set(task.jobId, task.taskId);
  }
  const taskId = taken.get(jobId) ?? "";
  taken.delete(jobId);
  return taskId;
}

async function nextCall(jobId: string, functionName: string): Promise<FunctionCall> {
  const call = await functions.nextCall(jobId);
  expect(call.functionName).toBe(functionName);
  return call;
}

function eventOf(rest: string): object {
  const [eventId, payload] = split(rest);
  return { eventId, ...(payload !== "" && { payload: JSON.parse(payload) }) };
}

/** Expects that the answer names one problem, with the pointer and the part of its sentence that the page shows. */
async function expectRefusal(refusal: Promise<Answer<ProblemBody>>, problem: string): Promise<void> {
  const { errors = [] } = (await refusal).body;
  expect(errors.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual([expect.stringContaining(problem)]);
}

/** Returns the first word, and the rest. */
function split(rest: string): readonly [string, string] {
  const [, word = "", more = ""] = /^(\S+) ?(.*)$/.exec(rest) ?? [];
  return [word, more];
}
