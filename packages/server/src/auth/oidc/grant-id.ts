import { hash } from "node:crypto";
import { clientIds } from "./clients.ts";

/**
 * A grant stands for everything that one client received in one session. Its id consists of the ids of the user, the session and the client, so
 * that every token of the provider leads to its session, and a session leads to everything that was issued in it. Ids of grants never leave the
 * service.
 */
export interface GrantOwner {
  readonly userId: string;
  readonly sessionId: string;
  readonly clientId: string;
}

export function grantIdOf({ userId, sessionId, clientId }: GrantOwner): string {
  return `${userId}.${sessionId}.${clientId}`;
}

export function ownerOfGrant(grantId: string | undefined): GrantOwner | undefined {
  const [userId, sessionId, clientId] = (grantId ?? "").split(".");
  if (userId === undefined || sessionId === undefined || clientId === undefined) return undefined;
  return { userId, sessionId, clientId };
}

/** Returns the hashed names of the grants that the service's own clients may have in a session. */
export function grantHashesOf(userId: string, sessionId: string): Buffer[] {
  return clientIds.map((clientId) => grantHashOf({ userId, sessionId, clientId }));
}

export function grantHashOf(owner: GrantOwner): Buffer {
  return hashName(grantIdOf(owner));
}

export function hashName(name: string): Buffer {
  return hash("sha256", name, "buffer");
}
