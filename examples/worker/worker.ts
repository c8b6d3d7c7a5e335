// A worker in TypeScript. It makes thumbnails, up to four at once.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { createClient, type Task, type TaskControl, TaskFailure, Worker } from "@stepwell/client";

const { baseUrl, organizationId, token } = connection();

const worker = new Worker({
  client: createClient({ baseUrl, token }),
  organizationId,
  queue: "thumbnails",
  name: `${hostname()} ${process.pid}`,
  concurrency: 4,
  work: makeThumbnails,
  onError: (error, task) => process.stderr.write(`${task?.taskId ?? "poll"}: ${error}\n`),
});

// After a signal, the worker takes no more tasks, finishes the tasks under way, and gives back those that take longer than 30 seconds.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void worker.stop(30));

process.stdout.write(`The worker takes tasks of the queue thumbnails at ${baseUrl}.\n`);
await worker.ended;

/** `idempotencyKey` stays the same when the task is given out again, so thumbnails that exist already need not be made again. */
async function makeThumbnails({ input, idempotencyKey }: Task, { signal, progress }: TaskControl) {
  const { image, widths } = input as { image: string; widths: number[] };
  if (!/\.(png|jpg)$/.test(image)) {
    throw new TaskFailure(`${image} is no picture.`, { type: "UnknownFormat", retryable: false });
  }
  const thumbnails: string[] = [];
  for (const width of widths) {
    signal.throwIfAborted();
    thumbnails.push(`${image}-${width}-${idempotencyKey}`);
    progress({ done: thumbnails.length, of: widths.length });
  }
  return { image, thumbnails };
}

/** Returns how to reach the service that the environment names, or else the one that `stepwell dev` or `npm start` started in this directory. */
function connection(): { baseUrl: string; organizationId: string; token: string } {
  const { STEPWELL_URL, STEPWELL_ORGANIZATION, STEPWELL_TOKEN, STEPWELL_DATA_DIR = ".stepwell" } = process.env;
  if (STEPWELL_URL !== undefined && STEPWELL_ORGANIZATION !== undefined && STEPWELL_TOKEN !== undefined)
    return { baseUrl: STEPWELL_URL, organizationId: STEPWELL_ORGANIZATION, token: STEPWELL_TOKEN };
  return JSON.parse(readFileSync(`${STEPWELL_DATA_DIR}/dev.json`, "utf8"));
}
