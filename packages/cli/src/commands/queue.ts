import type { StepwellClient } from "@stepwell/client";
import type { Command } from "commander";
import { connect, type Place } from "../connection/connection.ts";
import { parseJson, wholeNumber, withWait } from "../option.ts";
import { ageOf } from "../output/age.ts";
import { list, table } from "../output/table.ts";
import { show } from "../output/terminal.ts";
import { firstWait, showSubmitted } from "./submit.ts";

export function declareQueue(program: Command): void {
  const queue = program.command("queue").description("the queues from which workers take tasks");
  queue
    .command("list")
    .description("list the queues: how many tasks wait, how long the oldest has waited, and how many workers ask")
    .action(listQueues);
  queue
    .command("show")
    .argument("<queue>")
    .description("show a queue, with the workers that asked it for tasks within the last day")
    .action(showQueue);
  queue
    .command("pause")
    .argument("<queue>")
    .description("stop handing out tasks of a queue; workers keep the tasks that they hold")
    .action(pauseQueue);
  queue.command("resume").argument("<queue>").description("hand out tasks of a paused queue again").action(resumeQueue);
  const submit = queue
    .command("submit")
    .argument("<queue>", "the queue from which a worker takes the task")
    .option("--input <json>", "what the worker receives: JSON, @FILE, or - for standard input", parseJson, {})
    .option(
      "--priority <number>",
      "from -100 to 100; tasks with a higher priority are handed out first",
      wholeNumber(-100, 100),
      0,
    )
    .description("submit a single task, without a workflow of your own: it is a job of the workflow `stepwell-task`");
  withWait(submit).action(submitTask);
}

async function listQueues(place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  const queues = await client.listTaskQueues(organizationId);
  const headings = ["QUEUE", "WAITING", "OLDEST", "HELD", "WORKERS", ""];
  const text = queues.length === 0 ? noQueues : table(headings, queues.map(rowOf));
  show({ value: queues, text, quiet: queues.map(({ queue }) => queue) });
}

async function showQueue(queue: string, place: Place): Promise<void> {
  const { client, organizationId } = await connect(place);
  const shown = await client.getTaskQueue(organizationId, queue);
  const { waitingCount, heldCount, oldestDueAt, pausedAt, workers } = shown;
  const facts = list({
    waiting: oldestDueAt === undefined ? String(waitingCount) : `${waitingCount}, the oldest for ${ageOf(oldestDueAt)}`,
    held: String(heldCount),
    paused: pausedAt === undefined ? undefined : `since ${pausedAt}`,
    workers: workers.map(({ worker }) => worker).join(", ") || "none asks",
  });
  show({ value: shown, text: `Queue ${queue}\n${facts}`, quiet: queue });
}

async function pauseQueue(queue: string, place: Place): Promise<void> {
  const updated = await update(queue, true, place);
  const { waitingCount, heldCount } = updated;
  const text = `The queue ${queue} is paused, so none of its tasks is handed out. ${waiting(waitingCount)}, and workers hold ${heldCount}.`;
  show({ value: updated, text, quiet: queue });
}

async function resumeQueue(queue: string, place: Place): Promise<void> {
  const updated = await update(queue, false, place);
  const text = `Tasks of the queue ${queue} are handed out. ${waiting(updated.waitingCount)}.`;
  show({ value: updated, text, quiet: queue });
}

interface SubmitOptions extends Place {
  readonly input: unknown;
  readonly priority: number;
  readonly wait: number;
}

async function submitTask(queue: string, { input, priority, wait, ...place }: SubmitOptions): Promise<void> {
  const connection = await connect(place);
  const { client, organizationId } = connection;
  const began = performance.now();
  const job = await client.submitTask(organizationId, queue, { input, priority }, firstWait(wait));
  await showSubmitted(connection, job, wait, began);
}

type TaskQueue = Awaited<ReturnType<StepwellClient["listTaskQueues"]>>[number];

const noQueues =
  "No task queue is in use. `stepwell queue submit QUEUE` puts a task into one, and `stepwell sample worker.ts` prints a worker.";

async function update(queue: string, paused: boolean, place: Place): Promise<TaskQueue> {
  const { client, organizationId } = await connect(place);
  return await client.updateTaskQueue(organizationId, queue, { paused });
}

function waiting(count: number): string {
  return count === 1 ? "1 task waits" : `${count} tasks wait`;
}

function rowOf({ queue, waitingCount, oldestDueAt, heldCount, workerCount, pausedAt }: TaskQueue): string[] {
  const remark = pausedAt !== undefined ? "paused" : waitingCount > 0 && workerCount === 0 ? "no worker asks" : "";
  return [queue, String(waitingCount), ageOf(oldestDueAt), String(heldCount), String(workerCount), remark];
}
