import { setTimeout as pause } from "node:timers/promises";
import type { Answer, Api } from "./api.ts";
import type { MovingClock } from "./moving-clock.ts";
import type { WorkflowIds, WorkflowName } from "./workflows.ts";

export type JobName = "approval" | "waiting" | "retrying" | "running" | "failed" | "succeeded" | "cancelled";

export interface DayParts {
  readonly baseUrl: string;
  readonly organization: string;
  /** The program that submits most of the jobs. */
  readonly shop: Api;
  readonly owner: Api;
  readonly workflows: WorkflowIds;
  readonly clock: MovingClock;
}

const minuteMs = 60_000;
const turnMs = 30 * minuteMs;
/** How much of the day is reserved for the jobs that are submitted one by one at its end. */
const evening = 125 * minuteMs;

/** Plays a day of orders, with a quiet night and a report that fails. Leaves one job for each `JobName`, and returns the paths of these jobs. */
export async function liveADay(parts: DayParts): Promise<Readonly<Record<JobName, string>>> {
  const { clock, owner } = parts;
  const day = new Day(parts);
  let failed = "";
  for (let turn = 0; clock.behindMs > evening; turn += 1) {
    await day.orders(turn);
    if (turn % 20 === 3) await day.report("dach");
    if (turn % 12 === 11) failed = await day.report("nordics", owner);
    if (turn % 14 === 5) await day.claim();
    clock.pass(turnMs);
  }
  const cancelled = await day.leaveCancelled();
  const waiting = await day.leaveWaiting();
  const retrying = await day.leaveRetrying();
  const approval = await day.leaveForApproval();
  const succeeded = await day.leaveSucceeded();
  const running = await day.leaveRunning();
  return { failed, cancelled, waiting, retrying, approval, succeeded, running };
}

class Day {
  readonly #parts: DayParts;
  #orders = 20_411;

  constructor(parts: DayParts) {
    this.#parts = parts;
  }

  /** Submits a job, and returns its path when the job has ended or waits, but after `waitSeconds` at the latest. */
  async submit(name: WorkflowName, inputJson: object, by = this.#parts.shop, waitSeconds = 20): Promise<string> {
    const { organization, workflows } = this.#parts;
    const body = { workflowId: workflows[name], inputJson };
    const { jobId } = await by.post(`${organization}/jobs?waitSeconds=${waitSeconds}`, body);
    return `${organization}/jobs/${jobId}`;
  }

  /** Submits the orders of one turn at the same time, and sends the events for which they wait. */
  async orders(turn: number): Promise<void> {
    const { shop, clock } = this.#parts;
    const count = Math.round(3.5 + 3 * Math.sin(turn / 7 + 1) + (turn % 3));
    const bought = Array.from({ length: count }, (_, number) => ({ order: this.#order(), van: 12 + number }));
    await Promise.all(
      bought.map(async ({ order, van }) => {
        const job = await this.submit("order-fulfilment", order);
        if (isDone(await shop.get(job))) return;
        clock.pass(85_000);
        await shop.post(`${job}/events`, { eventId: "invoice.sent" });
        await shop.post(`${job}/events`, { eventId: "courier.picked-up", payload: { courier: "DPD", van } });
      }),
    );
  }

  async report(region: string, by = this.#parts.shop, waitSeconds = 20): Promise<string> {
    const date = new Date().toISOString().slice(0, 10);
    return await this.submit("nightly-report", { region, date }, by, waitSeconds);
  }

  /** Submits a refund, which waits for a person. */
  async claim(): Promise<void> {
    this.#orders += 1;
    await this.submit("refund", { orderId: `A-${this.#orders}`, amount: 49.9, reason: "damaged" });
  }

  async leaveCancelled(): Promise<string> {
    const { owner, clock } = this.#parts;
    const order = { sku: "TENT-4", count: 40, customer: "Fjord Camping" };
    const job = await this.submit("order-approval", order, owner);
    clock.pass(9 * minuteMs);
    await owner.post(`${job}/cancel`);
    return job;
  }

  /** Leaves a job that has received one of its two events, and another event with a mistyped id. */
  async leaveWaiting(): Promise<string> {
    const { shop, clock } = this.#parts;
    const job = await this.submit("order-fulfilment", { ...this.#order(), amount: 126 });
    clock.pass(31 * minuteMs);
    await shop.post(`${job}/events`, { eventId: "invoice.sent", payload: { invoice: "INV-8841" } });
    clock.pass(6 * minuteMs);
    await shop.post(`${job}/events`, { eventId: "courier.pickedup", payload: { courier: "DPD", van: 7 } });
    await this.orders(5);
    return job;
  }

  async leaveRetrying(): Promise<string> {
    const { shop, clock } = this.#parts;
    const job = await this.submit("ledger-sync", { ledger: "main", entries: 412 }, shop, 0);
    await until(shop, job, "LedgerClosed");
    clock.pass(16 * minuteMs);
    await until(shop, job, '"attempts":2');
    return job;
  }

  async leaveForApproval(): Promise<string> {
    const job = await this.submit("order-approval", { sku: "LANTERN-2", count: 12, customer: "Café Norr" });
    await this.orders(4);
    this.#parts.clock.pass(18 * minuteMs);
    return job;
  }

  async leaveSucceeded(): Promise<string> {
    const { shop, clock } = this.#parts;
    const job = await this.submit("order-fulfilment", { ...this.#order(), amount: 49 });
    await until(shop, job, "await-handover");
    clock.pass(4 * minuteMs);
    await shop.post(`${job}/events`, { eventId: "invoice.sent" });
    await shop.post(`${job}/events`, { eventId: "courier.picked-up", payload: { courier: "DPD", van: 14 } });
    return job;
  }

  async leaveRunning(): Promise<string> {
    const { shop, clock } = this.#parts;
    const job = await this.report("benelux", shop, 0);
    await until(shop, job, "publish-report");
    clock.pass(2 * minuteMs);
    return job;
  }

  /** Makes an order. With some amounts, `charge-card` (function-bodies.ts) fails: the card is declined, or the gateway does not answer in time. */
  #order(): object {
    this.#orders += 1;
    const number = this.#orders;
    const sku = ["LANTERN-2", "TENT-4", "STOVE-1", "ROPE-60"][number % 4];
    const amount = number % 23 === 0 ? 999 : 20 + ((number * 37) % 180);
    return { orderId: `A-${number}`, sku, count: 1 + (number % 3), amount, express: number % 5 === 0 };
  }
}

function isDone({ status = "" }: Answer): boolean {
  return status !== "RUNNING";
}

/** Waits until the answer about the job contains this text. */
async function until(api: Api, job: string, said: string): Promise<void> {
  while (!JSON.stringify(await api.get(job)).includes(said)) await pause(50);
}
