import { HttpProxy } from "@stepwell/testing/proxies/http-proxy.ts";
import { useService } from "@stepwell/testing/service.ts";
import { postgresHome } from "@stepwell/testing/stores.ts";
import { createClient, Worker } from "@stepwell/testing/worker.ts";
import { afterEach, expect, test } from "vitest";
import { endAll, run } from "./process.ts";

const service = useService(postgresHome);
afterEach(endAll);

/** An organization, and the command line of its owner. */
async function world() {
  const { organizationId, owner, api } = await service.newOrganization();
  const environment = {
    STEPWELL_URL: service.baseUrl,
    STEPWELL_TOKEN: owner.token,
    STEPWELL_ORGANIZATION: organizationId,
  };
  const client = createClient({ baseUrl: service.baseUrl, token: owner.token });
  const stepwell = (...words: string[]) => run(environment, ...words);
  const submit = async (queue: string) => await api.call("SubmitTask", { params: { queue }, body: {} });
  return { organizationId, environment, client, stepwell, submit };
}

test("a task can be submitted from the command line, which prints the worker's result", async () => {
  const { organizationId, client, stepwell } = await world();
  const worker = new Worker({
    client,
    organizationId,
    queue: "squares",
    work: ({ input }) => (input as { n: number }).n ** 2,
  });
  const words = ["submit-task", "squares", "--input", '{"n":7}', "--priority", "-5", "--wait", "20"];
  const { code, output, complaint } = await stepwell(...words);
  await worker.stop();
  expect({ code, complaint }).toEqual({ code: 0, complaint: "" });
  expect(JSON.parse(output)).toMatchObject({
    status: "SUCCEEDED",
    output: 49,
    input: { queue: "squares", priority: -5 },
  });
});

test("the wait for a task includes the wait of its submission, and the job is shown when the time is up", async () => {
  const { organizationId, environment } = await world();
  const proxy = await HttpProxy.before(service.baseUrl);
  try {
    const words = ["queue", "submit", "nobody-works-here", "--wait", "1", "--json"];
    const { output } = await run({ ...environment, STEPWELL_URL: proxy.url }, ...words);
    expect(JSON.parse(output)).toMatchObject({ status: "RUNNING" });
  } finally {
    await proxy.stop();
  }
  const place = `/organizations/${organizationId}`;
  expect(proxy.exchanges.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `POST ${place}/task-queues/nobody-works-here/tasks?waitSeconds=1`,
    expect.stringMatching(`^GET ${place}/jobs/[^/?]+$`),
  ]);
});

test("queues are listed with their waiting tasks, and a queue can be paused and resumed", async () => {
  const { stepwell, submit } = await world();
  expect((await stepwell("queue", "list")).output).toMatch(/^No task queue is in use\. `stepwell queue submit QUEUE` /);
  for (const queue of ["thumbnails", "captions", "thumbnails"]) await submit(queue);
  expect(await stepwell("queue", "pause", "captions")).toMatchObject({
    code: 0,
    output: "The queue captions is paused, so none of its tasks is handed out. 1 task waits, and workers hold 0.\n",
  });
  expect((await stepwell("queue", "list")).output.replaceAll(/ \d+ s +/g, " AGE     ")).toBe(
    [
      "QUEUE       WAITING  OLDEST  HELD  WORKERS",
      "captions    1        AGE     0     0        paused",
      "thumbnails  2        AGE     0     0        no worker asks",
      "",
    ].join("\n"),
  );
  expect((await stepwell("queue", "resume", "captions")).output).toBe(
    "Tasks of the queue captions are handed out. 1 task waits.\n",
  );
  const [listed, shown] = [await stepwell("task-queues", "--json"), await stepwell("task-queue", "show", "captions")];
  const captions = {
    queue: "captions",
    waitingCount: 1,
    heldCount: 0,
    workerCount: 0,
    oldestDueAt: expect.any(String),
  };
  expect(JSON.parse(listed.output)).toEqual([
    captions,
    expect.objectContaining({ queue: "thumbnails", waitingCount: 2 }),
  ]);
  expect(JSON.parse(shown.output)).toEqual({ ...captions, workers: [] });
});

test("an invalid queue name, and an input that is not JSON, are reported in one sentence", async () => {
  const { stepwell } = await world();
  expect(await stepwell("queue", "pause", ".hidden")).toMatchObject({
    code: 2,
    output: "",
    complaint: expect.stringMatching(/^stepwell: .*1 to 100 of the characters/),
  });
  expect(await stepwell("submit-task", "squares", "--input", "{n}")).toMatchObject({
    code: 2,
    complaint: expect.stringMatching(
      /^stepwell: option '--input <json>' argument '\{n\}' is invalid\. It is not JSON: /,
    ),
  });
});
