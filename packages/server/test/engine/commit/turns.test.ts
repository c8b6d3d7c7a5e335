import { expect, test } from "vitest";
import { Turns } from "../../../src/engine/commit/turns.ts";

const alone = new Map([["own", 2]]);
const both = new Map([
  ["own", 100],
  ["other", 1],
]);

let jobCount = 0;
const newJob = (organizationId: string) => ({ organizationId, jobId: `job-${jobCount++}` });

/** Makes turns with timers that run only while a command is decided, or when the test calls `pass`. */
function turnsByHand() {
  let now = 0;
  let cpuMs = 0;
  const turns = new Turns(
    () => now,
    () => cpuMs,
  );
  const decide =
    (ms: number, usedMs = ms) =>
    () => {
      now += ms;
      cpuMs += usedMs;
      return ms;
    };
  const pass = (ms: number) => {
    now += ms;
  };
  return { turns, decide, pass };
}

test("a batch decides commands of an organization until the organization's time is used up, and the others still have their time", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin(alone);

  const own = Array.from({ length: 10 }, () => turn.take(newJob("own"), decide(4.9)));
  const others = Array.from({ length: 3 }, () => turn.take(newJob("other"), decide(4.9)));

  expect(own.filter((decision) => decision !== undefined)).toHaveLength(5);
  expect(others).toEqual([4.9, 4.9, 4.9]);
  expect(turns.begin(alone).take(newJob("own"), decide(4.9))).toBe(4.9);
});

test("an organization in a batch with others gets a tenth of the time that an organization gets in a batch of its own", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin(both);
  const own = Array.from({ length: 10 }, () => turn.take(newJob("own"), decide(2)));
  expect(own.filter((decision) => decision !== undefined)).toHaveLength(2);
  expect(turn.take(newJob("other"), decide(2))).toBe(2);
});

test("an organization whose time ran out gets as much room in the next batch as it used, and this room doubles each time that the organization uses all of it in time", () => {
  const { turns, decide } = turnsByHand();
  const takeMany = (count: number, ms: number) => {
    const turn = turns.begin(alone);
    for (let taken = 0; taken < count; taken += 1) turn.take(newJob("own"), decide(ms));
  };
  const roomAfter = (count: number, ms: number) => {
    takeMany(count, ms);
    return turns.roomOf("own");
  };
  expect(turns.roomOf("own")).toBe(Number.POSITIVE_INFINITY);
  expect(roomAfter(100, 4.9)).toBe(5);
  expect(turns.roomOf("other")).toBe(Number.POSITIVE_INFINITY);
  expect([roomAfter(5, 0.1), roomAfter(9, 0.1), roomAfter(10, 0.1)]).toEqual([10, 10, 20]);
  expect(roomAfter(20, 4.9)).toBe(5);
  expect(roomAfter(1, 40)).toBe(5);
  for (let room = 5; room <= 500; room *= 2) takeMany(room, 0.01);
  expect(turns.roomOf("own")).toBe(Number.POSITIVE_INFINITY);
});

test("cheap commands cause no rest, however many there are", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin(alone);
  for (let count = 0; count < 1_000; count += 1) turn.take(newJob("own"), decide(0.02));
  expect(turns.restMs("own")).toBe(0);
});

test("a costly command causes a rest of only its organization, five times as long", () => {
  const { turns, decide, pass } = turnsByHand();
  turns.begin(alone).take(newJob("own"), decide(40));
  expect([turns.restMs("own"), turns.restMs("other")]).toEqual([200, 0]);
  pass(50);
  expect(turns.restMs("own")).toBe(150);
  pass(150);
  expect(turns.restMs("own")).toBe(0);
});

test("the rests after two costly commands of one batch follow each other", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin(alone);
  turn.take(newJob("own"), decide(15));
  turn.take(newJob("own"), decide(25));
  expect(turns.restMs("own")).toBe(15 * 5 + 25 * 5 - 25);
});

test("a command that was slow because the thread waited for a processor causes no rest", () => {
  const { turns, decide } = turnsByHand();
  turns.begin(alone).take(newJob("own"), decide(40, 1));
  expect(turns.restMs("own")).toBe(0);
});

test("an organization whose commands were slow because the thread waited for a processor continues in the same batch", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin(alone);
  const decisions = Array.from({ length: 10 }, () => turn.take(newJob("own"), decide(4.9, 0.1)));
  expect(decisions).not.toContain(undefined);
});

test("an organization with a large part of a batch rests for three times its cost beyond 5 ms if there are other organizations", () => {
  const { turns, pass } = turnsByHand();
  const turn = turns.begin(both);
  turn.noteBytes("own", 100_000);
  expect(turns.restMs("own")).toBe(0);
  turn.noteBytes("own", 100_000);
  expect(turns.restMs("own")).toBeCloseTo(9);
  turn.noteBytes("own", 250_000);
  expect(turns.restMs("own")).toBeCloseTo(39);
  expect(turns.restMs("other")).toBe(0);
  pass(39);
  expect(turns.restMs("own")).toBe(0);
});

test("many small commands in a batch with others get less room in the next batch, and cause hardly any rest", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin(both);
  for (let count = 0; count < 100; count += 1) turn.take(newJob("own"), decide(0.01));
  turn.noteBytes("own", 120_000);
  expect([turns.restMs("own"), turns.roomOf("own")]).toEqual([expect.closeTo(2.4), 86]);
  const next = turns.begin(both);
  for (let count = 0; count < 86; count += 1) next.take(newJob("own"), decide(0.01));
  next.noteBytes("own", 86 * 1_200);
  expect(turns.roomOf("own")).toBe(172);
});

test("an organization that has been alone for a second neither rests nor loses room, however much it writes", () => {
  const { turns, decide, pass } = turnsByHand();
  turns.begin(both);
  pass(900);
  const write = () => {
    const turn = turns.begin(alone);
    for (let count = 0; count < 2; count += 1) turn.take(newJob("own"), decide(0.01));
    turn.noteBytes("own", 1_000_000);
    return turns.restMs("own") > 0;
  };
  expect(write()).toBe(true);
  pass(200);
  expect([write(), turns.roomOf("own")]).toEqual([false, 4]);
  expect(write()).toBe(false);
});

test("an organization that rested is costly until a second after its rest", () => {
  const { turns, pass } = turnsByHand();
  expect(turns.hasCostly()).toBe(false);
  turns.begin(both).notePreparation("own", 15);
  expect([turns.isCostly("own"), turns.isCostly("other")]).toEqual([true, false]);
  pass(1_029);
  expect(turns.isCostly("own")).toBe(true);
  pass(2);
  expect([turns.isCostly("own"), turns.hasCostly()]).toEqual([false, false]);
});

test("many commands for one job use the room of one job", () => {
  const { turns, decide } = turnsByHand();
  turns.begin(both).noteBytes("own", 10_000_000);
  const [job, room] = [newJob("own"), turns.roomOf("own")];
  const turn = turns.begin(both);
  for (let count = 0; count < 50; count += 1) turn.take(job, decide(0.01));
  expect(turns.roomOf("own")).toBe(2 * room);
});

test("after a long preparation, the commands of an organization are deferred once, unless the organization is alone", () => {
  const { turns, decide } = turnsByHand();
  const prepared = (counts: ReadonlyMap<string, number>, ms: number) => {
    const turn = turns.begin(counts);
    turn.notePreparation("own", ms);
    return [turn.take(newJob("own"), decide(1)), turn.take(newJob("other"), decide(1))];
  };
  const [deferred, decided] = [
    [undefined, 1],
    [1, 1],
  ];
  expect(prepared(alone, 50)).toEqual(decided);
  expect(prepared(both, 5)).toEqual(decided);
  expect(prepared(both, 50)).toEqual(deferred);
  expect(prepared(both, 50)).toEqual(decided);
  expect(prepared(both, 50)).toEqual(deferred);
});

test("while others have commands, an organization's rest grows faster than the length of its long command", () => {
  const restAfter = (counts: ReadonlyMap<string, number>, ms: number) => {
    const { turns, decide } = turnsByHand();
    turns.begin(counts).take(newJob("own"), decide(ms));
    return turns.restMs("own");
  };
  expect([restAfter(both, 5), restAfter(both, 6), restAfter(both, 10)]).toEqual([0, 30, 50]);
  expect([restAfter(both, 30), restAfter(both, 60)]).toEqual([450, 1_800]);
  expect([restAfter(both, 90), restAfter(both, 500)]).toEqual([2_000, 2_500]);
  expect([restAfter(alone, 6), restAfter(alone, 60)]).toEqual([30, 300]);
});
