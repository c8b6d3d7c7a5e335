import { countOf } from "../plural.ts";

/** The service counts the tasks and the workers of a queue only up to this number. */
const maxCounted = 10_000;

const count = (counted: number) => `${counted.toLocaleString("en")}${counted >= maxCounted ? "+" : ""}`;

export const taskQueues = {
  title: "Task queues",
  caption: "Task queues of this organization, by name",
  queue: "Queue",
  waiting: "Waiting",
  oldest: "Oldest due",
  held: "Held",
  workers: "Workers",
  count,
  paused: "Paused",
  noWorker: "No worker",
  noWorkerText: "Tasks wait, and no worker has asked for them in the last five minutes.",
  emptyTitle: "No task queue yet",
  empty:
    "A worker is a program of yours that takes tasks from a queue and does them. It runs wherever you like and needs no open port. Start one with these two commands:",
  submitTitle: "No task yet",
  submit: "Steps of the type /service/task put tasks into a queue. So does this command, which needs no workflow:",
} as const;

export const taskQueue = {
  now: "Now",
  waitingCount: "Tasks that wait",
  oldest: "The oldest task became due",
  heldCount: "Tasks that workers hold",
  workerCount: "Workers that asked for tasks in the last five minutes",
  pausedSince: "Paused",
  by: "by",
  pause: "Pause",
  pauseTitle: (queue: string) => `Pause ${queue}?`,
  pauseText:
    "No task of this queue is handed out until somebody resumes the queue. New tasks still enter the queue, and the timeouts of all waiting tasks keep running. Workers keep the tasks that they hold.",
  pauseAction: "Pause queue",
  pausedNow: (queue: string) => `${queue} is paused`,
  resume: "Resume",
  resumeTitle: (queue: string) => `Resume ${queue}?`,
  resumeText: (waiting: number) =>
    `Workers get its tasks again: ${countOf(waiting, "task waits", "tasks wait")}${waiting >= maxCounted ? ", or more" : ""}.`,
  resumeAction: "Resume queue",
  resumedNow: (queue: string) => `Tasks of ${queue} are handed out again`,
  workersTitle: "Workers",
  workersCaption: "Workers that asked for tasks of this queue within the last day, the latest first",
  worker: "Worker",
  askedLast: "Asked last",
  askedFirst: "First seen",
  holds: "Holds",
  noWorkersTitle: "No worker has asked for tasks within the last day",
  noWorkers:
    "The first command makes worker.ts, a program to begin with. Put the name of this queue and your own code into it.",
  held: {
    title: "Held tasks",
    caption: "Tasks that workers hold, by worker",
    emptyTitle: "No worker holds a task",
    empty: "Tasks are listed here, with their progress, while a worker holds them.",
  },
  waiting: {
    title: "Waiting tasks",
    caption: "Tasks that wait for a worker, the highest priority first",
    emptyTitle: "No task waits",
    empty: "Tasks that no worker holds are listed here.",
  },
  job: "Job",
  step: "Step",
  inBranch: (step: string, branch: string) => `${step} in ${branch}`,
  leaseEnds: "Lease ends",
  progress: "Progress",
  priority: "Priority",
  due: "Due",
  asItWas: "This list is not updated any more, because you have gone beyond its first page.",
  showLatest: "Show the latest",
} as const;
