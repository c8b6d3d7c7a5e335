import { parseArgs } from "node:util";
import { type StoreKind, storeKinds } from "@stepwell/testing/processes/store-home.ts";
import { type ItemBody, itemBodies } from "./workflows.ts";

export interface BenchOptions {
  readonly names: readonly string[];
  readonly store: StoreKind;
  /** Undefined: the bench's own default. */
  readonly jobs: number | undefined;
  readonly concurrency: number | undefined;
  readonly runs: number | undefined;
  readonly organizations: number | undefined;
  readonly keys: number | undefined;
  readonly body: ItemBody | undefined;
  /** The directory of another build to compare with. */
  readonly against: string | undefined;
}

/** The names of the benches, in the order in which "all" runs them. */
const benchNames = [
  "noop3",
  "noop3-poll",
  "event",
  "loop",
  "delays",
  "tasks",
  "for-each",
  "children",
  "sign-in",
  "metrics",
  "cost",
  "plans",
  "idle",
  "startup",
  "definitions",
];

/** Throws `UsageError`. */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args);
  const [name, ...rest] = positionals;
  if (name === undefined || rest.length > 0) throw new UsageError("Give the name of one bench.");
  if (name !== "all" && !benchNames.includes(name)) throw new UsageError(`There is no bench named "${name}".`);
  return {
    names: name === "all" ? benchNames : [name],
    store: oneOf("store", values.store, storeKinds),
    jobs: count("jobs", values.jobs),
    concurrency: count("concurrency", values.concurrency),
    runs: count("runs", values.runs),
    organizations: count("organizations", values.organizations),
    keys: count("keys", values.keys),
    body: values.body === undefined ? undefined : oneOf("body", values.body, itemBodies),
    against: values.against,
  };
}

export class UsageError extends Error {}

export function oneOf<const Value extends string>(
  option: string,
  given: string | undefined,
  allowed: readonly [Value, ...Value[]] | readonly Value[],
): Value {
  const value = given === undefined ? allowed[0] : allowed.find((candidate) => candidate === given);
  if (value === undefined) throw new UsageError(`--${option} must be one of: ${allowed.join(", ")}.`);
  return value;
}

export function count(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(given))
    throw new UsageError(`--${option} must be a whole number from 1 to 999999999, not "${given}".`);
  return Number(given);
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        store: text,
        jobs: text,
        concurrency: text,
        runs: text,
        organizations: text,
        keys: text,
        body: text,
        against: text,
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
