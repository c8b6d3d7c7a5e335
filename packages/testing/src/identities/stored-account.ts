import { addUserToken } from "../../../server/src/management/account/user-tokens.ts";
import { insertAccountActivity } from "../../../server/src/store/people/account-activity.ts";
import { insertUserSession } from "../../../server/src/store/people/user-sessions.ts";
import type { TestService } from "../service.ts";

/*
 * Writes sessions, tokens and activities of an account directly into the store. Through the API, each of them would need a password, and hashing is
 * slow.
 */

export async function storeActivity({ running: { engine, database } }: TestService, userId: string): Promise<void> {
  const how = { action: "signed-in", address: "", details: {} } as const;
  await insertAccountActivity(database, { userId, activityId: engine.newId(), happenedAt: engine.now(), ...how });
}

export async function storeUserToken(
  { running: { engine, database } }: TestService,
  userId: string,
  name: string,
): Promise<void> {
  const wanted = { userId, tokenId: engine.newId(), name, createdAt: engine.now(), expiresAt: null };
  await database.transaction((transaction) => addUserToken(transaction, wanted));
}

/** Returns the session's id. */
export async function storeSession({ running: { engine, database } }: TestService, userId: string): Promise<string> {
  const sessionId = engine.newId();
  const at = engine.now();
  const times = { createdAt: at, lastSeenAt: at, expiresAt: at + 600_000 };
  const origin = { client: null, authenticatedAt: null, deviceId: null, isVouchedFor: false };
  const how = { signedInBy: "password", userAgent: "test", address: "", ...origin };
  await insertUserSession(database, { userId, sessionId, ...how, ...times });
  return sessionId;
}
