import type { Connection } from "./connection.ts";

/** Runs one job, from its first request to the answer that it has succeeded. Throws if the job does not succeed. */
export type RunJob = (connection: Connection, index: number) => Promise<void>;

/** Runs the jobs numbered `from` to `to - 1`. Each connection takes the next job as soon as it is free. */
export async function runJobs(
  connections: readonly Connection[],
  runJob: RunJob,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<{ readonly seconds: number; readonly latenciesMs: Float64Array }> {
  const latenciesMs = new Float64Array(to - from);
  let next = from;
  const begunAt = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (next < to) {
        const index = next;
        next += 1;
        const startedAt = performance.now();
        await runJob(connection, index);
        latenciesMs[index - from] = performance.now() - startedAt;
      }
    }),
  );
  return { seconds: (performance.now() - begunAt) / 1000, latenciesMs };
}
