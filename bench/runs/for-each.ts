import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { peakResidentMbOf } from "@stepwell/testing/processes/resident-memory.ts";
import type { StoreHomes, StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { createClient, Worker } from "@stepwell/testing/worker.ts";
import { CostMeter, costOfOne } from "../cost-meter.ts";
import { rounded } from "../samples.ts";
import { startTarget, type Target } from "../target/target.ts";
import { eachItem, type ItemBody } from "../workflows.ts";

export interface ForEachSize {
  /** The number of items in the larger list. The smaller list has a tenth of them. In a result, `items` is the number in the measured list. */
  readonly items: number;
  readonly concurrency: number;
  readonly body: ItemBody;
}

export interface ForEachResult extends ForEachSize {
  readonly bench: "for-each";
  readonly store: StoreKind;
  /** The time from the request until the job has succeeded. */
  readonly seconds: number;
  /** If the body is a task, `benchUs` is the processor time of the worker. */
  readonly perItem: ReturnType<typeof costOfOne>;
  /** The highest memory use of the service's process until the job's end. */
  readonly peakResidentMb: number | null;
}

/** Runs a forEach over few items and one over many on the same fresh service. An item should cost the same in both. */
export async function runForEachBench(
  homes: StoreHomes,
  size: ForEachSize,
  progress: (line: string) => void,
): Promise<ForEachResult[]> {
  const home = await homes.fresh();
  const target = await startTarget(home);
  const { api, organizationId, service } = target;
  const workflowId = await registerWorkflow(api, organizationId, eachItem("for-each", size.body, size.concurrency));
  const meter = await CostMeter.open(service.pid, home);
  const worker = size.body === "task" ? await startWorker(target, size.concurrency) : undefined;
  const few = Math.max(1, Math.round(size.items / 10));
  await runOne(target, workflowId, few);
  const results: ForEachResult[] = [];
  for (const items of [few, size.items]) {
    const { cost, result: seconds } = await meter.measure(() => runOne(target, workflowId, items));
    progress(`for-each: ${items} items in ${rounded(seconds)} s`);
    results.push({
      bench: "for-each",
      store: homes.kind,
      ...size,
      items,
      seconds: rounded(seconds),
      perItem: costOfOne(cost, items),
      peakResidentMb: peakResidentMbOf(service.pid),
    });
  }
  await worker?.stop();
  await meter.close();
  await service.stop();
  await home.discard();
  return results;
}

/** Returns how many seconds the job took. */
async function runOne({ api, organizationId }: Target, workflowId: string, items: number): Promise<number> {
  const jobs = `/organizations/${organizationId}/jobs`;
  const inputJson = { items: Array.from({ length: items }, (_, index) => index) };
  const begunAt = performance.now();
  let job = await api.post<{ jobId: string; status: string }>(`${jobs}?waitSeconds=30`, { workflowId, inputJson });
  while (job.status === "PENDING" || job.status === "RUNNING") {
    job = await api.get<typeof job>(`${jobs}/${job.jobId}?waitSeconds=30`);
  }
  const seconds = (performance.now() - begunAt) / 1000;
  if (job.status !== "SUCCEEDED") throw new Error(`The job has not succeeded: ${JSON.stringify(job)}`);
  return seconds;
}

async function startWorker({ api, organizationId, port }: Target, concurrency: number): Promise<Worker> {
  const { token } = await api.post<{ token: string }>(`/organizations/${organizationId}/api-tokens`, {
    name: "worker",
    permissions: ["task:work"],
  });
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token });
  return new Worker({ client, organizationId, queue: "bench", concurrency, work: ({ input }) => input });
}
