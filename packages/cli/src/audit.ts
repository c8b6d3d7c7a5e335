import { DirectoryLockedError, describeFinding, readConfig, type SealLink, verifyStoredAudit } from "@stepwell/server";
import { connect } from "./connection.ts";
import { print } from "./terminal.ts";

interface VerifyOptions {
  readonly organization?: string;
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
 * Straight in the store, as whoever audits should; through the service where STEPWELL_URL names one, or where it holds the embedded store.
 * Ends with 1 when something is wrong.
 */
export async function verify(options: VerifyOptions): Promise<void> {
  const expected = parseExpected(options);
  let isIntact = true;
  for await (const verified of process.env.STEPWELL_URL === undefined
    ? inStore(options, expected)
    : byService(options)) {
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

/** Of the one organization that the connection or the option names. */
async function* byService({ organization, expect }: VerifyOptions): AsyncGenerator<Verified> {
  const { baseUrl, token, organizationId: known } = connect();
  const organizationId = organization ?? known;
  const query = expect === undefined ? "" : `?expect=${encodeURIComponent(expect)}`;
  const url = `${baseUrl}/organizations/${encodeURIComponent(organizationId)}/audit/verification${query}`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  const answer = (await response.json()) as VerificationAnswer;
  if (!response.ok) throw new Error(answer.detail ?? `The service answered ${response.status}.`);
  const { findings, newestSeal = null, ...verified } = answer;
  yield { ...verified, organizationId, newestSeal, problems: findings.map(({ detail }) => detail) };
}

interface VerificationAnswer extends Omit<Verified, "problems" | "newestSeal" | "organizationId"> {
  readonly newestSeal?: SealLink;
  readonly findings: readonly { readonly detail: string }[];
  /** Of an error. */
  readonly detail?: string;
}

function report({ organizationId, problems, ...verified }: Verified): void {
  const { checkedEntries, checkedSeals, unsealedEntries, newestSeal } = verified;
  const verdict = problems.length === 0 ? "intact" : "NOT INTACT";
  const counts = `${checkedEntries} entries in ${checkedSeals} seals, ${unsealedEntries} not sealed yet`;
  print(`organization ${organizationId}: ${verdict}; ${counts}`);
  for (const problem of problems) print(`  ${problem}`);
  if (newestSeal !== null) print(`  newest seal ${newestSeal.number}:${newestSeal.hash}`);
}

function parseExpected({ expect, organization }: VerifyOptions): SealLink | undefined {
  if (expect === undefined) return undefined;
  const [, number, hash] = /^([1-9]\d{0,8}):([0-9a-f]{64})$/.exec(expect) ?? [];
  if (number === undefined || hash === undefined) {
    throw new Error("--expect must be a seal as an earlier `stepwell audit verify` printed it: NUMBER:HASH.");
  }
  const isOneNamed = organization !== undefined || process.env.STEPWELL_URL !== undefined;
  if (!isOneNamed) throw new Error("--expect needs --organization: a seal belongs to one organization.");
  return { number: Number(number), hash };
}
