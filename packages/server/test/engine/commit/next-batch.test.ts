import { expect, test } from "vitest";
import type { Command } from "../../../src/engine/commit/command.ts";
import { type NextBatchOptions, takeNextBatch } from "../../../src/engine/commit/next-batch.ts";
import { Turns } from "../../../src/engine/commit/turns.ts";
import { Parking } from "../../../src/engine/plans/parking.ts";

/** Makes turns in which the organization `costly` has just begun to rest. `passRest` lets the time pass for which it rests. */
function turnsWithCostly() {
  let now = 0;
  const turns = new Turns(
    () => now,
    () => now,
  );
  const counts = new Map([
    ["costly", 1],
    ["cheap", 1],
  ]);
  turns.begin(counts).notePreparation("costly", 25);
  const rest = turns.restMs("costly");
  return {
    turns,
    rest,
    passRest: () => {
      now += rest;
    },
  };
}

function queued(...names: string[]) {
  return names.map((name, index) => {
    const [organizationId = "", key] = name.split(" ");
    const idempotency = key === undefined ? {} : { idempotency: { key, requestHash: Buffer.alloc(0) } };
    return { name, command: { organizationId, jobId: `job-${index}`, bytes: 10, ...idempotency } as Command };
  });
}

const namesOf = (many: readonly { readonly name: string }[]) => many.map(({ name }) => name);

function options(turns: Turns, more: Partial<NextBatchOptions> = {}): NextBatchOptions {
  return { turns, parking: new Parking(), maxBatchSize: 100, maxBatchBytes: 1_000, wasCostly: false, ...more };
}

test("a costly organization and the others take turns with batches", () => {
  const { turns, passRest } = turnsWithCostly();
  passRest();
  const queue = queued("cheap", "costly", "cheap", "costly");

  const first = takeNextBatch(queue, options(turns));
  const second = takeNextBatch(first.left, options(turns, { wasCostly: first.isCostly }));

  expect([namesOf(first.batch), first.isCostly]).toEqual([["costly", "costly"], true]);
  expect([namesOf(second.batch), second.isCostly]).toEqual([["cheap", "cheap"], false]);
  const mixed = takeNextBatch(queue, options(turns, { wasCostly: true }));
  expect([namesOf(mixed.batch), namesOf(mixed.left)]).toEqual([
    ["cheap", "cheap"],
    ["costly", "costly"],
  ]);
});

test("a costly organization does not wait if no other organization has commands", () => {
  const { turns, passRest } = turnsWithCostly();
  passRest();
  const { batch, isCostly } = takeNextBatch(queued("costly", "costly"), options(turns, { wasCostly: true }));
  expect([namesOf(batch), isCostly]).toEqual([["costly", "costly"], false]);
});

test("while an organization rests, its commands are taken out of the queue", () => {
  const { turns, rest } = turnsWithCostly();
  const queue = queued("costly 1", "cheap", "costly 2");
  const { batch, left, resting } = takeNextBatch(queue, options(turns));
  expect([namesOf(batch), left]).toEqual([["cheap"], []]);
  expect(resting).toEqual(new Map([["costly", { commands: [queue[0], queue[2]], restMs: rest }]]));
});

test("all commands of a resting organization leave the queue, even those behind a full batch", () => {
  const { turns } = turnsWithCostly();
  const queue = queued("costly 1", "cheap", "other", "costly 2", "third");
  const { batch, left, resting } = takeNextBatch(queue, options(turns, { maxBatchSize: 1 }));
  expect([namesOf(batch), namesOf(left)]).toEqual([["cheap"], ["other", "third"]]);
  expect(resting.get("costly")?.commands).toEqual([queue[0], queue[3]]);
});

test("a batch ends at its bounds, but takes at least one command", () => {
  const { turns } = turnsWithCostly();
  const queue = queued("cheap", "other", "third");
  expect(namesOf(takeNextBatch(queue, options(turns, { maxBatchSize: 2 })).batch)).toEqual(["cheap", "other"]);
  const { batch, left } = takeNextBatch(queue, options(turns, { maxBatchBytes: 1 }));
  expect([namesOf(batch), namesOf(left)]).toEqual([["cheap"], ["other", "third"]]);
});

test("a second command with the same idempotency key waits for the next batch", () => {
  const { turns } = turnsWithCostly();
  const { batch, left } = takeNextBatch(queued("cheap k", "cheap k", "other k", "cheap"), options(turns));
  expect([namesOf(batch), namesOf(left)]).toEqual([["cheap k", "other k", "cheap"], ["cheap k"]]);
});

test("if an organization has room for one job, all waiting commands for this job are in one batch", () => {
  const { turns, passRest } = turnsWithCostly();
  passRest();
  turns.begin(new Map(Object.entries({ costly: 2, cheap: 1 }))).notePreparation("costly", 6);
  passRest();
  expect(turns.roomOf("costly")).toBe(1);
  const queue = queued("costly", "costly", "costly", "costly").map((one, index) => ({
    ...one,
    command: { ...one.command, jobId: `job-${index % 2}` },
  }));
  const { batch, left } = takeNextBatch(queue, options(turns));
  expect([batch, left].map((many) => many.map(({ command }) => command.jobId))).toEqual([
    ["job-0", "job-0"],
    ["job-1", "job-1"],
  ]);
});
