import { parseArgs } from "node:util";
import { type StoreKind, storeKinds } from "@stepwell/testing/processes/store-home.ts";
import { count, oneOf, UsageError } from "../bench/options.ts";
import { type Fault, faults } from "./faults/faulty-store.ts";

const campaigns = ["crash", "postgres-crash", "pause"] as const;

export interface ChaosOptions {
  readonly campaign: (typeof campaigns)[number];
  readonly cycles: number;
  readonly store: StoreKind;
  /** A defect of the store under the service, to prove that the check finds it. */
  readonly fault: "none" | Fault;
}

/** Throws `UsageError`. */
export function parseChaosOptions(args: readonly string[]): ChaosOptions {
  const { values, positionals } = parse(args);
  const [name, ...rest] = positionals;
  const campaign = campaigns.find((candidate) => candidate === name);
  if (campaign === undefined || rest.length > 0) throw new UsageError(`Give one campaign: ${campaigns.join(", ")}.`);
  return {
    campaign,
    cycles: count("cycles", values.cycles) ?? 20,
    store: oneOf("store", values.store, campaign === "crash" ? storeKinds : ["postgres"]),
    fault: oneOf("fault", values.fault, ["none", ...faults]),
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { store: text, cycles: text, fault: text } });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
