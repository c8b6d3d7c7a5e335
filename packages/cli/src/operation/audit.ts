import { DirectoryLockedError, describeFinding, readConfig, type SealLink, verifyStoredAudit } from "@stepwell/server";
import { connect, type Place } from "../connection/connection.ts";
import { CommandError } from "../exit-code.ts";
import { showNext } from "../output/terminal.ts";

interface VerifyOptions extends Place {
  readonly expect?: string;
}

interface Verified {
  readonly organizationId: string;
  readonly checkedEntries: number;
  readonly checkedSeals: number;
  readonly unsealedEntries: number;
  readonly newestSeal: SealLink | null;
  readonly problems: readonly string[];
}

/**
 * Verifies audit trails in the store itself, so that an auditor need not trust the service. Asks the service instead if STEPWELL_URL is set, or if
 * a running service holds the embedded store. The process ends with the exit code 1 when something is wrong.
 */
export async function verify(options: VerifyOptions): Promise<void> {
  const expected = parseExpected(options);
  let isIntact = true;
  for await (const verified of process.env.STEPWELL_URL ? byService(options) : inStore(options, expected)) {
    report(verified);
    isIntact &&= verified.problems.length === 0;
  }
  if (!isIntact) process.exitCode = 1;
}

async function* inStore(options: VerifyOptions, expected: SealLink | undefined): AsyncGenerator<Verified> {
  try {
    const request = { organizationId: options.organization?.toLowerCase(), expected };
    for await (const { findings, ...verified } of verifyStoredAudit(readConfig(process.env), request)) {
      yield { ...verified, problems: findings.map(describeFinding) };
    }
  } catch (error) {
    if (!(error instanceof DirectoryLockedError)) throw error;
    yield* byService(options);
  }
}

/** Asks the service, which verifies only the trail of one organization in a request. */
async function* byService({ expect, ...place }: VerifyOptions): AsyncGenerator<Verified> {
  const { client, organizationId } = await connect(place);
  const query = expect === undefined ? {} : { expect };
  const answer = await client.call("VerifyAudit", { path: { organizationId }, query });
  const { findings, newestSeal = null, ...verified } = answer;
  yield { ...verified, organizationId, newestSeal, problems: findings.map(({ detail }) => detail) };
}

function report(verified: Verified): void {
  const { organizationId, problems, checkedEntries, checkedSeals, unsealedEntries, newestSeal } = verified;
  const verdict = problems.length === 0 ? "intact" : "NOT INTACT";
  const counts = `${checkedEntries} entries in ${checkedSeals} seals, ${unsealedEntries} not sealed yet`;
  const seal = newestSeal === null ? undefined : `${newestSeal.number}:${newestSeal.hash}`;
  const lines = [`organization ${organizationId}: ${verdict}; ${counts}`, ...problems.map((problem) => `  ${problem}`)];
  if (seal !== undefined) lines.push(`  newest seal ${seal}`);
  showNext({ value: verified, text: lines.join("\n"), quiet: seal ?? [] });
}

function parseExpected({ expect, organization }: VerifyOptions): SealLink | undefined {
  if (expect === undefined) return undefined;
  const [, number, hash] = /^([1-9]\d{0,8}):([0-9a-f]{64})$/.exec(expect) ?? [];
  if (number === undefined || hash === undefined) {
    throw new CommandError(
      "usage",
      "--expect takes a seal as an earlier `stepwell audit verify` printed it: NUMBER:HASH.",
    );
  }
  const isOneNamed = organization !== undefined || Boolean(process.env.STEPWELL_URL);
  if (!isOneNamed)
    throw new CommandError("usage", "--expect needs --organization, because a seal belongs to one organization.");
  return { number: Number(number), hash };
}
