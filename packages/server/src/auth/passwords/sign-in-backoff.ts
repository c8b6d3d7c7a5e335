import { hash } from "node:crypto";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Database } from "../../store/home/database.ts";
import {
  type BackoffRule,
  claimSignInAttempt,
  clearSignInAttempts,
  deleteOldSignInAttempts,
  findSignInBlock,
  refundSignInAttempt,
} from "../../store/people/sign-in-backoff.ts";
import { networkOf } from "../credentials/network.ts";

/** A thing for which attempts are counted, such as an account or a network, and the rule for its count. */
export interface BackoffSubject {
  readonly hash: Buffer;
  readonly rule: BackoffRule;
  /** True if attempts at the accounts of several people are counted together, so that a success at one says nothing about the other attempts. */
  readonly isShared: boolean;
}

export interface BackoffClaim {
  readonly subject: BackoffSubject;
  readonly count: number;
}

const minuteSeconds = 60;
const daySeconds = 24 * 60 * minuteSeconds;

/**
 * Five attempts are free. After that, the wait is 1, 2, 4, … seconds. This allows 14 attempts in the first quarter of an hour, and one in each
 * further quarter of an hour. The count restarts only after a success or after a time without attempts: a count that restarted at fixed times would
 * allow twice as many attempts around such a time.
 */
const ofOnePerson: BackoffRule = {
  freeCount: 5,
  maxWaitSeconds: 15 * minuteSeconds,
  forgetAfterSilentSeconds: daySeconds,
  forgetAfterSeconds: 36_500 * daySeconds,
};

/** An office shares one address and makes attempts all the time, so this count restarts each hour. */
const ofOneAddress: BackoffRule = {
  freeCount: 100,
  maxWaitSeconds: 15 * minuteSeconds,
  forgetAfterSilentSeconds: daySeconds,
  forgetAfterSeconds: 60 * minuteSeconds,
};

/** Returns the subject for attempts at an account from all browsers that are not known devices. The account is named by the typed e-mail address, even if no account has it. */
export function accountSubject(email: string): BackoffSubject {
  return subjectOf(`account:${email.toLowerCase()}`, ofOnePerson, false);
}

/** Returns the subject for attempts at an account from a device from which somebody signed in to this account before. */
export function deviceSubject(deviceId: string): BackoffSubject {
  return subjectOf(`device:${deviceId}`, ofOnePerson, false);
}

/** Returns the subject for the confirmations of a person who is signed in. Nobody else can use these attempts up. */
export function confirmationSubject(userId: string): BackoffSubject {
  return subjectOf(`confirmation:${userId}`, ofOnePerson, false);
}

/** Returns the subject for attempts at any account from one network: an IPv4 address, or the /64 that one IPv6 subscriber gets. */
export function addressSubject(address: string): BackoffSubject {
  return subjectOf(`address:${networkOf(address)}`, ofOneAddress, true);
}

/** Returns in how many seconds an attempt is allowed for all of these subjects; undefined when it is allowed now. */
export async function blockedForSeconds(
  database: Database,
  subjects: readonly BackoffSubject[],
  at: Timestamp,
): Promise<number | undefined> {
  const blockedUntil = await findSignInBlock(
    database,
    subjects.map((subject) => subject.hash),
    at,
  );
  return blockedUntil === undefined ? undefined : Math.ceil((blockedUntil - at) / 1_000);
}

export function secondsInWords(seconds: number): string {
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}

/**
 * Counts one attempt under every subject. Counts nothing and returns undefined when one of the subjects is blocked. Pass shared subjects first. If
 * all calls take their locks in this order, no two of them can deadlock.
 */
export async function claimAttempt(
  database: Database,
  subjects: readonly BackoffSubject[],
  at: Timestamp,
): Promise<readonly BackoffClaim[] | undefined> {
  try {
    return await database.transaction(async (transaction) => {
      const claims: BackoffClaim[] = [];
      for (const subject of subjects) {
        const count = await claimSignInAttempt(transaction, subject.hash, subject.rule, at);
        if (count === undefined) throw new Blocked();
        claims.push({ subject, count });
      }
      return claims;
    });
  } catch (error) {
    if (error instanceof Blocked) return undefined;
    throw error;
  }
}

/**
 * Counts one attempt for the network address, and runs it. `attempt` computes a password hash but checks no password. The count is taken back if
 * `attempt` returns a value, or if the service was too busy for it. Throws `ServiceError` RateLimitError when the address is blocked.
 */
export async function countedForAddress<Done>(
  { database, now, address }: { readonly database: Database; readonly now: () => Timestamp; readonly address: string },
  attempt: () => Promise<Done | undefined>,
): Promise<Done | undefined> {
  const subjects = [addressSubject(address)];
  const claims = await claimAttempt(database, subjects, now());
  if (claims === undefined) {
    const retryAfterSeconds = (await blockedForSeconds(database, subjects, now())) ?? 1;
    const detail = `Too many attempts from your address failed. Try again in ${secondsInWords(retryAfterSeconds)}.`;
    throw new ServiceError("RateLimitError", detail, { retryAfterSeconds });
  }
  const done = await attempt().catch(async (error: unknown) => {
    if (error instanceof ServiceError && error.code === "UnavailableError") await refundAttempt(database, claims);
    throw error;
  });
  if (done !== undefined) await refundAttempt(database, claims);
  return done;
}

/** Takes back the count of one attempt that did not fail. */
export async function refundAttempt(database: Database, claims: readonly BackoffClaim[]): Promise<void> {
  await database.transaction(async (transaction) => {
    for (const { subject, count } of claims) await refundSignInAttempt(transaction, subject.hash, count);
  });
}

/** Takes back the count of an attempt that succeeded and, for a subject that is not shared, of all earlier attempts too. */
export async function forgiveAttempts(database: Database, claims: readonly BackoffClaim[]): Promise<void> {
  await database.transaction(async (transaction) => {
    for (const { subject, count } of claims) {
      if (subject.isShared) await refundSignInAttempt(transaction, subject.hash, count);
      else await clearSignInAttempts(transaction, subject.hash);
    }
  });
}

/** Deletes counts that would restart anyway. Returns true when there may be more of them. */
export async function forgetOldAttempts(database: Database, at: Timestamp): Promise<boolean> {
  const failedBefore = at - ofOnePerson.forgetAfterSilentSeconds * 1_000;
  return (await deleteOldSignInAttempts(database, failedBefore, maxRowsAtOnce)) === maxRowsAtOnce;
}

const maxRowsAtOnce = 5_000;

/** Thrown to roll back the counts of the other subjects. */
class Blocked extends Error {}

/** Only the hash of `name` is stored, because `name` contains an e-mail address, a network address, or the id of a device or user. */
function subjectOf(name: string, rule: BackoffRule, isShared: boolean): BackoffSubject {
  return { hash: hash("sha256", name, "buffer"), rule, isShared };
}
