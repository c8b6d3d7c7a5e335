import { parseArgs } from "node:util";
import { type StoreKind, storeKinds } from "@stepwell/testing/processes/store-home.ts";
import { count, oneOf, UsageError } from "../bench/options.ts";
import { type Fault, faults } from "./faults/faulty-store.ts";
import { tenantNames } from "./neighbours/tenants.ts";
import { type WorkloadName, workloads } from "./workload.ts";

/** The stores on which a campaign runs, the default first, and the options that the campaign accepts besides `--store`. */
const campaigns = {
  crash: { stores: storeKinds, takes: ["cycles", "workload", "fault"] },
  "postgres-crash": { stores: ["postgres"], takes: ["cycles", "workload", "fault"] },
  pause: { stores: ["postgres"], takes: ["cycles", "workload", "fault"] },
  outage: { stores: ["postgres"], takes: ["cycles", "workload", "fault", "speed"] },
  neighbours: { stores: storeKinds, takes: ["tenant", "seconds", "jobs", "without-fix"] },
} as const satisfies Record<string, { stores: readonly StoreKind[]; takes: readonly string[] }>;

export interface ChaosOptions {
  readonly campaign: keyof typeof campaigns;
  readonly cycles: number;
  readonly speed: number;
  readonly store: StoreKind;
  readonly workload: WorkloadName;
  /** A defect that is put into the store below the service, to prove that the check finds it. */
  readonly fault: "none" | Fault;
  /** The names of the hostile tenants of this run. */
  readonly tenants: readonly string[];
  /** How many seconds each of the two measurements of the well-behaved organization takes: alone, and beside the hostile tenant. */
  readonly seconds: number;
  /** The number of jobs that the tenant `pending-jobs` creates. */
  readonly jobs: number;
  /** Whether to turn off, for each hostile tenant, the part of the service that protects against it, to prove that its case can fail. */
  readonly withoutFix: boolean;
}

/** Throws `UsageError`. */
export function parseChaosOptions(args: readonly string[]): ChaosOptions {
  const { values, positionals } = parse(args);
  const [name, ...rest] = positionals;
  const names = Object.keys(campaigns) as (keyof typeof campaigns)[];
  const campaign = names.find((candidate) => candidate === name);
  if (campaign === undefined || rest.length > 0) throw new UsageError(`Give one campaign: ${names.join(", ")}.`);
  const takes: readonly string[] = ["store", ...campaigns[campaign].takes];
  const withoutFix = values["without-fix"] ?? false;
  const unknown = Object.keys(values).find((option) => !takes.includes(option));
  if (unknown !== undefined) throw new UsageError(`${campaign} does not take --${unknown}.`);
  return {
    campaign,
    cycles: count("cycles", values.cycles) ?? 20,
    speed: count("speed", values.speed) ?? 1,
    store: oneOf("store", values.store, campaigns[campaign].stores),
    workload: oneOf("workload", values.workload, workloads),
    fault: oneOf("fault", values.fault, ["none", ...faults]),
    tenants: values.tenant === undefined ? tenantNames : [oneOf("tenant", values.tenant, tenantNames)],
    seconds: count("seconds", values.seconds) ?? (withoutFix ? 20 : 60),
    jobs: count("jobs", values.jobs) ?? 300_000,
    withoutFix,
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const names = ["store", "cycles", "workload", "fault", "speed", "tenant", "seconds", "jobs"] as const;
  const options = Object.fromEntries(names.map((name) => [name, text])) as Record<(typeof names)[number], typeof text>;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...options, "without-fix": { type: "boolean" } },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
