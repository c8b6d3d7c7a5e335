import { expect, test } from "vitest";
import { Turns } from "../../src/engine/commit/turns.ts";

/** Makes turns with a timer that only runs while a command is decided. */
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

test("in one batch an organization decides until its time is used up, and the others still have theirs", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin();

  const own = Array.from({ length: 10 }, () => turn.take("own", decide(4.9)));
  const others = Array.from({ length: 3 }, () => turn.take("other", decide(4.9)));

  expect(own.filter((decision) => decision !== undefined)).toHaveLength(5);
  expect(others).toEqual([4.9, 4.9, 4.9]);
  expect(turns.begin().take("own", decide(4.9))).toBe(4.9);
});

test("in a batch with others an organization decides for a tenth of that time", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin(true);
  const own = Array.from({ length: 10 }, () => turn.take("own", decide(2)));
  expect(own.filter((decision) => decision !== undefined)).toHaveLength(2);
  expect(turn.take("other", decide(2))).toBe(2);
});

test("an organization whose time ran out gets as much room in the next batch as it used, and more again while that suffices", () => {
  const { turns, decide } = turnsByHand();
  const takeMany = (count: number, ms: number) => {
    const turn = turns.begin();
    for (let taken = 0; taken < count; taken += 1) turn.take("own", decide(ms));
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

test("commands that cost little are followed by no rest, however many there are", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin();
  for (let count = 0; count < 1_000; count += 1) turn.take("own", decide(0.02));
  expect(turns.restMs("own")).toBe(0);
});

test("a command that costs much is followed by a rest of its organization alone, five times as long", () => {
  const { turns, decide, pass } = turnsByHand();
  turns.begin().take("own", decide(40));
  expect([turns.restMs("own"), turns.restMs("other")]).toEqual([200, 0]);
  pass(50);
  expect(turns.restMs("own")).toBe(150);
  pass(150);
  expect(turns.restMs("own")).toBe(0);
});

test("the rests of two costly commands of one batch come one after the other", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin();
  turn.take("own", decide(15));
  turn.take("own", decide(25));
  expect(turns.restMs("own")).toBe(15 * 5 + 25 * 5 - 25);
});

test("a command that took long because the thread waited for a processor is followed by no rest", () => {
  const { turns, decide } = turnsByHand();
  turns.begin().take("own", decide(40, 1));
  expect(turns.restMs("own")).toBe(0);
});

test("an organization whose commands took long because the thread waited for a processor goes on in the same batch", () => {
  const { turns, decide } = turnsByHand();
  const turn = turns.begin();
  const decisions = Array.from({ length: 10 }, () => turn.take("own", decide(4.9, 0.1)));
  expect(decisions).not.toContain(undefined);
});
