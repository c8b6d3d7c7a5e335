import { expect, test } from "vitest";
import { Turns } from "../../src/engine/commit/turns.ts";

/** Turns by a timer that only goes on while something is decided. */
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
