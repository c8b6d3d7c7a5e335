import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type Task, TaskFailure, Worker } from "@stepwell/testing/worker.ts";
import { between, chance } from "../random.ts";
import { taskQueue } from "../workflows.ts";
import type { WorkerAssignment, WorkerWord } from "./worker-process.ts";

/*
 * A worker of a customer: the loop of the client library in a process of its own. The campaign kills this process, or pauses it with SIGSTOP. The
 * worker reports each task before it does any work on it, and sometimes answers more than once.
 */

const { baseUrl, token, organizationId, name } = JSON.parse(process.argv[2] ?? "") as WorkerAssignment;
const client = createClient({ baseUrl, token, maxAttempts: 1 });
process.on("disconnect", () => process.exit());

const worker = new Worker({
  client,
  organizationId,
  queue: taskQueue,
  name,
  concurrency: 20,
  work: carryOut,
  onError: (error, task) => {
    if (task !== undefined && isRefusal(error)) void say("refused", task);
  },
});
await worker.ended;

async function carryOut(task: Task): Promise<object> {
  await say("handedOut", task);
  await sleep(chance(0.2) ? between(200, 1_500) : between(0, 50));
  const { luck } = task.input as { readonly luck?: string };
  if (luck === "doomed" || (luck === "resumed" && task.attempt === 1))
    throw new TaskFailure("It never works.", { retryable: false });
  if (luck === "unlucky" && task.attempt === 1) throw new Error("The first attempt never works.");
  if (chance(0.5)) for (let answer = 1; answer <= 2; answer += 1) await complete(task, answer);
  return { answer: "of the library" };
}

/** Sends an answer without the library's loop, even if the worker no longer has the task. */
async function complete(task: Task, answer: number): Promise<void> {
  try {
    await client.completeTask(organizationId, task.taskId, { answer });
    await say("taken", task);
  } catch (error) {
    if (isRefusal(error)) await say("refused", task);
  }
}

function isRefusal(error: unknown): boolean {
  return (error as { readonly status?: number }).status === 409;
}

/** Waits until the message is sent, so that the campaign has it even if this process is killed next. */
async function say(type: WorkerWord["type"], { jobId, idempotencyKey, attempt }: Task): Promise<void> {
  const word: WorkerWord = { type, jobId, idempotencyKey, attempt };
  await new Promise((resolve) => process.send?.(word, resolve));
}
