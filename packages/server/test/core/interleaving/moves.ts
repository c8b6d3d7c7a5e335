import fc from "fast-check";
import type { Failure } from "../../../src/core/job/fact.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";
import { anyObject, errorTypes, eventIds } from "./definitions.ts";

/**
 * Something that happens to a job. Which call receives an outcome is decided only when it happens: the call of the branch, one of the calls under
 * way, or the newest call.
 */
export type Happening =
  | ({ readonly type: "succeeds"; readonly output: JsonValue } & Meant)
  | ({
      readonly type: "fails";
      readonly kind: Failure["kind"];
      readonly error: string;
      readonly code?: "Timeout";
    } & Meant)
  | ({ readonly type: "is lost"; readonly isNodeDead: boolean } & Meant)
  | ({ readonly type: "is handed back"; readonly begun: boolean } & Meant)
  /** An outcome of a call before the newest one. The call has usually ended. A larger `age` means an older call. */
  | { readonly type: "succeeds late"; readonly age: number; readonly output: JsonValue }
  | {
      readonly type: "event";
      readonly eventId: string;
      readonly payload?: JsonObject;
      readonly step?: string;
      /** The branch of `step`. */
      readonly branch?: string;
    }
  | { readonly type: "time passes"; readonly ms: number }
  | { readonly type: "cancel" }
  | { readonly type: "resume" }
  /** Another call of the parent begins to wait for the job. */
  | { readonly type: "is called" }
  /** One call of the parent stops waiting for the job: the newest (`age` 0) or the one before it (`age` 1). */
  | { readonly type: "is left"; readonly age: number };

type Meant = { readonly branch: string } | { readonly pick: number } | object;

/**
 * What happens to a commit. "lost": its node dies before the commit is written, and the facts go to another node. "twice": its node dies after the
 * commit is written but before it is reported, and the facts are delivered again.
 */
export type Fate = "lands" | "lost" | "twice";

export interface Move {
  readonly happening: Happening;
  /** Whether the next happening is in the same commit. */
  readonly isWithNext: boolean;
  readonly fate: Fate;
}

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(anyObject, fc.nat(5)).map(([output, pick]): Happening => ({ type: "succeeds", output, pick })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Failure["kind"]>("ordinary", "ordinary", "permanent", "transient"),
        fc.constantFrom(...errorTypes),
        fc.nat(5),
      )
      .map(([kind, error, pick]): Happening => ({ type: "fails", kind, error, pick })),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...eventIds, ...eventIds, ...eventIds, "one", "unlisted"),
        fc.option(anyObject, { nil: undefined, freq: 2 }),
        fc.option(fc.constantFrom("s0", "s1", "s2", "s3"), { nil: undefined, freq: 6 }),
      )
      .map(
        ([eventId, payload, step]): Happening => ({
          type: "event",
          eventId,
          ...(payload !== undefined && { payload }),
          ...(step !== undefined && { step }),
        }),
      ),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom(0, 0, 1_000, 5_000, 61_000).map((ms): Happening => ({ type: "time passes", ms })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Happening>(
          { type: "is lost", isNodeDead: true },
          { type: "is lost", isNodeDead: false },
          { type: "is handed back", begun: true },
          { type: "is handed back", begun: false },
        ),
        fc.nat(5),
      )
      .map(([happening, pick]) => ({ ...happening, pick }) as Happening),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(3), anyObject)
      .map(([age, output]): Happening => ({ type: "succeeds late", age, output })),
  },
  { weight: 1, arbitrary: fc.constant<Happening>({ type: "cancel" }) },
  { weight: 2, arbitrary: fc.constant<Happening>({ type: "resume" }) },
);

export const moves = movesOf(happening);

/** The moves for a job that was begun by another job. */
export const childMoves = movesOf(
  fc.oneof(
    { weight: 8, arbitrary: happening },
    { weight: 2, arbitrary: fc.constant<Happening>({ type: "is called" }) },
    { weight: 1, arbitrary: fc.nat(1).map((age): Happening => ({ type: "is left", age })) },
  ),
);

function movesOf(happenings: fc.Arbitrary<Happening>): fc.Arbitrary<Move[]> {
  return fc.array(
    fc.record({
      happening: happenings,
      isWithNext: fc.nat(3).map((n) => n === 0),
      fate: fc.constantFrom<Fate>("lands", "lands", "lands", "lost", "twice"),
    }),
    { minLength: 3, maxLength: 22 },
  );
}

export function commitsOf(all: readonly Move[]): { readonly happenings: readonly Happening[]; readonly fate: Fate }[] {
  const commits: { happenings: Happening[]; fate: Fate }[] = [];
  let isOpen = false;
  for (const { happening, isWithNext, fate } of all) {
    const last = commits.at(-1);
    if (isOpen && last !== undefined) last.happenings.push(happening);
    else commits.push({ happenings: [happening], fate });
    isOpen = isWithNext;
  }
  return commits;
}
