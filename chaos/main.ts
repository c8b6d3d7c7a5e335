import { fileURLToPath } from "node:url";
import { UsageError } from "../bench/options.ts";
import type { Campaign } from "./campaign.ts";
import type { Finding } from "./check/finding.ts";
import { playCrashes } from "./crash.ts";
import { type ChaosOptions, parseChaosOptions } from "./options.ts";
import { playPauses } from "./pause.ts";
import { playPostgresCrashes } from "./postgres-crash.ts";
import { reasonsWhyVoid, tallyOf } from "./validity.ts";

const usage = `Usage: npm run chaos -- CAMPAIGN [--cycles N] [--store embedded|postgres] [--fault FAULT]

  crash            kills the service under load and starts it again
  postgres-crash   kills the PostgreSQL server under the service and starts it again
  pause            three nodes over one PostgreSQL server: stops one for longer than its lease, or kills it

Each plays N such faults and then checks every job.

--fault answer-before-commit|no-sync|replay-without-key  runs the service over a store with that defect, to prove that the check finds it.
The last line on stdout is the result as JSON. Exit codes: 0 no finding, 1 findings, 2 usage, 3 the run proved nothing.
`;

const plays = { crash: playCrashes, "postgres-crash": playPostgresCrashes, pause: playPauses };
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

async function run(options: ChaosOptions): Promise<number> {
  const program = options.fault === "none" ? undefined : [faultyService, options.fault];
  const play = plays[options.campaign];
  return await report(options, await play({ ...options, program, progress }));
}

async function report(options: ChaosOptions, campaign: Campaign): Promise<number> {
  const { findings, recorder, interruptionCount } = campaign;
  const tally = tallyOf(recorder.operations);
  const voidReasons = reasonsWhyVoid(tally, interruptionCount);
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
    fault: options.fault,
    cycles: options.cycles,
    operations: tally.operationCount,
    acknowledged: tally.acknowledgedCount,
    replayedKeys: tally.replayedKeyCount,
    earlyEvents: tally.earlyEventCount,
    duplicateEvents: tally.duplicateEventCount,
    faultsUnderLoad: interruptionCount,
    lost: count("lost"),
    duplicated: count("duplicated"),
    violations: count("violation"),
    void: voidReasons.length > 0,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (findings.length > 0) return exitCodes.findings;
  return result.void ? exitCodes.void : exitCodes.sound;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

// Said aloud: a library that we load for PostgreSQL would otherwise end this process with 0 whatever happened.
process.exit(await main(process.argv.slice(2)));
