import { fileURLToPath } from "node:url";
import { UsageError } from "../bench/options.ts";
import type { Campaign } from "./campaign.ts";
import type { Finding } from "./check/finding.ts";
import { playCrashes } from "./crash.ts";
import { faults } from "./faults/faulty-store.ts";
import { tenantNames } from "./neighbours/tenants.ts";
import { type NeighbourResult, playNeighbours } from "./neighbours.ts";
import { type ChaosOptions, parseChaosOptions } from "./options.ts";
import { playOutages } from "./outage.ts";
import { playPauses } from "./pause.ts";
import { playPostgresCrashes } from "./postgres-crash.ts";
import { reasonsWhyVoid, tallyOf } from "./validity.ts";

const usage = `Usage: npm run chaos -- CAMPAIGN [--store embedded|postgres] [OPTION VALUE]...

  crash            kills the service under load and starts it again
  postgres-crash   kills the PostgreSQL server under the service and starts it again
  pause            three nodes over one PostgreSQL server: stops one for longer than its lease, or kills it
  outage           three nodes with calls of 30 s under way: the PostgreSQL server is away for 5 to 60 s, stopped or frozen
  neighbours       a well-behaved organization beside each hostile one: how long its requests take, alone and beside

The first four play --cycles N such faults (20) and then check every job.
--workload linear|forks  what the jobs do: no-ops and waits one after the other; or branches, with calls, child jobs and tasks of workers, which are killed and stopped.
--fault ${faults.join("|")}  runs the service over a store with that defect, to prove that the check finds it.
--speed N divides the times of an outage by N, for a trial.

neighbours measures --seconds N (60) alone and as long beside; below 50 s there are too few samples to prove anything.
--tenant NAME plays one of: ${tenantNames.join(", ")}.
--jobs N is how many jobs pending-jobs has (300000).
--without-fix turns off, for each tenant, what guards the service against it. Then each case must fail, and 20 s are enough (--seconds is 20 if it is left out).

The last line on stdout is the result as JSON. Exit codes: 0 no finding, 1 findings, 2 usage, 3 the run proved nothing. With --without-fix a case that passes is a finding.
`;

const plays = { crash: playCrashes, "postgres-crash": playPostgresCrashes, pause: playPauses, outage: playOutages };
const faultyService = fileURLToPath(new URL("./faults/faulty-service.ts", import.meta.url));
const exitCodes = { sound: 0, findings: 1, usage: 2, void: 3 };

async function main(args: readonly string[]): Promise<number> {
  try {
    return await run(parseChaosOptions(args));
  } catch (error) {
    if (error instanceof UsageError) {
      progress(`${error.message}\n\n${usage}`);
      return exitCodes.usage;
    }
    progress(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return exitCodes.findings;
  }
}

async function run({ campaign, ...options }: ChaosOptions): Promise<number> {
  if (campaign === "neighbours") return reportNeighbours(options, await playNeighbours({ ...options, progress }));
  const program = options.fault === "none" ? undefined : [faultyService, options.fault];
  return await report({ campaign, ...options }, await plays[campaign]({ ...options, program, progress }));
}

async function report(options: ChaosOptions, campaign: Campaign): Promise<number> {
  const { findings, recorder, interruptionCount } = campaign;
  const tally = tallyOf(recorder.operations);
  const voidReasons = [...reasonsWhyVoid(tally, interruptionCount), ...campaign.reasonsWhyVoid];
  for (const reason of voidReasons) progress(`void: ${reason}`);
  for (const { kind, subject, detail } of findings.slice(0, 20)) progress(`${kind}: ${subject}: ${detail}`);
  if (findings.length > 0) {
    progress(`${findings.length} findings; the recorded history is in ${recorder.directory}`);
  }
  await recorder.close(findings.length > 0);
  const count = (kind: Finding["kind"]) => findings.filter((finding) => finding.kind === kind).length;
  const result = {
    chaos: options.campaign,
    store: options.store,
    workload: options.workload,
    fault: options.fault,
    cycles: options.cycles,
    operations: tally.operationCount,
    acknowledged: tally.acknowledgedCount,
    replayedKeys: tally.replayedKeyCount,
    earlyEvents: tally.earlyEventCount,
    duplicateEvents: tally.duplicateEventCount,
    faultsUnderLoad: interruptionCount,
    ...campaign.counts,
    lost: count("lost"),
    duplicated: count("duplicated"),
    violations: count("violation"),
    void: voidReasons.length > 0,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (findings.length > 0) return exitCodes.findings;
  return result.void ? exitCodes.void : exitCodes.sound;
}

function reportNeighbours(
  { store, seconds, withoutFix }: Pick<ChaosOptions, "store" | "seconds" | "withoutFix">,
  cases: readonly NeighbourResult[],
): number {
  const leastSamples = withoutFix ? leastSamplesToFail : leastSamplesToPass;
  const isSmall = cases.length === 0 || cases.some(({ beside }) => beside.samples < leastSamples);
  if (isSmall) progress(`void: fewer than ${leastSamples} samples`);
  const idle = cases.filter(({ hostileAnswers }) => isIdle(hostileAnswers));
  for (const { tenant } of idle) progress(`void: none of the requests of ${tenant} was answered`);
  const isVoid = isSmall || idle.length > 0;
  const result = { chaos: "neighbours", store, seconds, withoutFix, cases, void: isVoid };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  const unexpected = cases.filter(({ passes }) => passes === withoutFix);
  if (withoutFix)
    for (const { tenant } of unexpected) progress(`${tenant}: the case did not fail, although the fix was turned off`);
  if (unexpected.length > 0) return exitCodes.findings;
  return isVoid ? exitCodes.void : exitCodes.sound;
}

/** A tenant whose connections are all lost puts no load on the service. */
function isIdle(answers: NeighbourResult["hostileAnswers"]): boolean {
  const kinds = Object.keys(answers);
  return kinds.length > 0 && kinds.every((kind) => kind === "lost");
}

/** Of 10,000 samples, 100 are above the 99th percentile. */
const leastSamplesToPass = 10_000;
/** A case that must fail exceeds its bound by far, so 20 samples above the 99th percentile are enough. */
const leastSamplesToFail = 2_000;

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

// The process ends even if a connection or a timer is still open.
process.exit(await main(process.argv.slice(2)));
