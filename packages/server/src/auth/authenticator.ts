import { hash } from "node:crypto";
import { ServiceError } from "../core/service-error.ts";
import type { Timestamp } from "../core/time.ts";
import { findMemberships } from "../store/access/members.ts";
import { findApiTokenByHash } from "../store/access/tokens.ts";
import type { Database } from "../store/home/database.ts";
import { isBeyondPassword } from "../store/people/user-credentials.ts";
import { findUserTokenByHash } from "../store/people/user-tokens.ts";
import type { Caller } from "./caller.ts";
import { BriefCache } from "./credentials/brief-cache.ts";
import { type CredentialKind, LastUse } from "./credentials/last-use.ts";
import { parseToken, prefixOf } from "./credentials/token-form.ts";
import type { ExternalBearers } from "./external/bearers.ts";
import type { IdTokenBearers } from "./oidc/id-token-bearers.ts";
import { outsideClientPermissions, withoutWithheld } from "./permissions/client-permissions.ts";
import { type PermissionSet, permissionsOfRoles, signedInPermissions, withImplied } from "./permissions/permissions.ts";
import { secondFactorDemanded } from "./permissions/second-factor-demand.ts";
import { boundsOf } from "./permissions/token-bounds.ts";
import type { RequestSource } from "./request-source.ts";

export interface AuthenticatorOptions {
  readonly database: Database;
  /** The database's time. */
  readonly now: () => Timestamp;
  readonly idTokens: IdTokenBearers;
  readonly externalBearers: ExternalBearers;
}

/** After at most this time, every node knows that a token was revoked, a permission was changed or a membership was lost. */
const maxAgeMs = 1_000;
const maxRemembered = 20_000;

/**
 * Finds the caller of a Bearer value and the caller's permissions. Returns without a promise if the value was looked up a moment ago, which is by far
 * the usual case.
 */
export class Authenticator {
  readonly #database: Database;
  readonly #now: () => Timestamp;
  readonly #idTokens: IdTokenBearers;
  readonly #externalBearers: ExternalBearers;
  readonly #credentials = new BriefCache<Credential | undefined>(maxAgeMs, maxRemembered);
  readonly #memberships = new BriefCache<KnownMembership | undefined>(maxAgeMs, maxRemembered);
  readonly #lastUse = new LastUse();

  constructor({ database, now, idTokens, externalBearers }: AuthenticatorOptions) {
    this.#database = database;
    this.#now = now;
    this.#idTokens = idTokens;
    this.#externalBearers = externalBearers;
  }

  /**
   * Throws (or rejects with) `ServiceError` AuthenticationError when the value is unknown, expired or revoked, or when the person whom an external
   * issuer's token names is not admitted. Throws UnavailableError when the external issuer that could check the value cannot be reached.
   */
  authenticate(bearer: string, sourceOf: () => RequestSource): Caller | Promise<Caller> {
    const tokenHash = hash("sha256", bearer);
    const found = this.#credentials.get(tokenHash, () => this.#look(bearer, tokenHash, sourceOf));
    return found instanceof Promise ? found.then((credential) => this.#callerOf(credential)) : this.#callerOf(found);
  }

  /** Tells whether this node remembers a credential for this value. The credential may have expired or ended. */
  isFamiliar(bearer: string): boolean {
    return this.#credentials.lastKnown(hash("sha256", bearer)) !== undefined;
  }

  /**
   * Returns the caller's permissions in this organization. Returns undefined when the organization does not exist, and when the caller does not
   * belong to it or uses an OAuth client of another organization. Throws (or rejects with) `ServiceError` AuthorizationError when the organization
   * demands a second factor, but `isBeyondPassword` is false and no external issuer vouches for the caller.
   */
  permissionsIn(
    caller: Caller,
    organizationId: string,
  ): PermissionSet | undefined | Promise<PermissionSet | undefined> {
    if (caller.principal.type !== "user") {
      return caller.organizationId === organizationId ? caller.permissions : undefined;
    }
    if (caller.client !== undefined && caller.client.organizationId !== organizationId) return undefined;
    const userId = caller.principal.id;
    const found = this.#memberships.get(membershipKey(userId, organizationId), async () => {
      const membership = (await findMemberships(this.#database, userId, [organizationId])).get(organizationId);
      if (membership === undefined) return undefined;
      const { roles, ownRolePermissions, requiresSecondFactor } = membership;
      return {
        permissions: permissionsOfRoles(roles, ownRolePermissions),
        lacksSecondFactor: requiresSecondFactor && !(await isBeyondPassword(this.#database, userId)),
      };
    });
    return found instanceof Promise
      ? found.then((membership) => grantedTo(caller, membership))
      : grantedTo(caller, found);
  }

  /** Forgets the callers that use an OAuth client, after the client was deleted. */
  forgetClient(clientId: string): void {
    this.#credentials.forgetWhere((credential) => credential?.caller.client?.clientId === clientId);
  }

  /** Forgets a token after a change, so that the change takes effect at once on this node. */
  forgetToken(tokenHash: Buffer): void {
    this.#credentials.forget(tokenHash.toString("hex"));
  }

  /** Forgets a user after a change of the user's credentials, name or memberships. */
  forgetUser(userId: string): void {
    this.#credentials.forgetWhere((credential) => credential?.caller.principal.id === userId);
    this.#memberships.forgetWhere((_membership, key) => key.startsWith(`${userId} `));
  }

  /** Forgets a membership after a change. Also forgets the user's sign-ins to the organization's OAuth clients: a sign-in may have ended, too. */
  forgetMembership({ organizationId, userId }: { readonly organizationId: string; readonly userId: string }): void {
    this.#memberships.forget(membershipKey(userId, organizationId));
    this.#credentials.forgetWhere((credential) => {
      const { client, principal } = credential?.caller ?? {};
      return client?.organizationId === organizationId && principal?.id === userId;
    });
  }

  /** Forgets an organization after a change of its roles or of the organization itself. */
  forgetOrganization(organizationId: string): void {
    this.#credentials.forgetWhere((credential) => {
      const { caller } = credential ?? {};
      return organizationId === (caller?.client ?? caller)?.organizationId;
    });
    this.#memberships.forgetWhere((_membership, key) => key.endsWith(` ${organizationId}`));
  }

  async flushLastUsed(): Promise<number> {
    return await this.#lastUse.flush(this.#database);
  }

  #callerOf(credential: Credential | undefined): Caller {
    const now = this.#now();
    if (credential === undefined) throw unknownCredential();
    if (credential.expiresAt !== null && credential.expiresAt <= now) throw expiredCredential();
    if (credential.overlapEndsAt !== null && credential.overlapEndsAt <= now) throw rotatedCredential();
    const { kind, ownerId, tokenId, lastUsedAt } = credential;
    if (kind !== "external") this.#lastUse.note(kind, ownerId, tokenId, now, lastUsedAt);
    return credential.caller;
  }

  /** Looks up the credential of a value. A value that cannot be a token is rejected before anything is looked up or remembered. */
  #look(bearer: string, tokenHash: string, sourceOf: () => RequestSource): Promise<Credential | undefined> {
    const parsed = parseToken(bearer);
    if (parsed === undefined) {
      if (this.#externalBearers.mayBe(bearer)) return this.#externalToken(bearer, sourceOf);
      if (!this.#idTokens.mayBe(bearer)) throw unknownCredential();
      return this.#idToken(bearer);
    }
    const { kind, ownerId } = parsed;
    const hashBytes = Buffer.from(tokenHash, "hex");
    const prefix = prefixOf(bearer);
    return kind === "organization"
      ? this.#apiToken(ownerId, hashBytes, prefix)
      : this.#userToken(ownerId, hashBytes, prefix);
  }

  async #apiToken(organizationId: string, tokenHash: Buffer, prefix: string): Promise<Credential | undefined> {
    const row = await findApiTokenByHash(this.#database, organizationId, tokenHash);
    if (row === undefined) return undefined;
    const { tokenId, name, permissions, expiresAt, lastUsedAt, overlapEndsAt } = row;
    const caller: Caller = {
      principal: { type: "apiToken", id: tokenId, name },
      organizationId,
      permissions: withImplied(permissions),
      bounds: boundsOf(row),
      token: { tokenId, prefix, hash: tokenHash, expiresAt: earlier(expiresAt, overlapEndsAt) },
    };
    return { kind: "organization", ownerId: organizationId, tokenId, expiresAt, overlapEndsAt, lastUsedAt, caller };
  }

  async #userToken(userId: string, tokenHash: Buffer, prefix: string): Promise<Credential | undefined> {
    const row = await findUserTokenByHash(this.#database, userId, tokenHash);
    if (row === undefined) return undefined;
    const { tokenId, userName, expiresAt, lastUsedAt } = row;
    const caller: Caller = {
      principal: { type: "user", id: userId, name: userName },
      organizationId: undefined,
      permissions: signedInPermissions,
      token: { tokenId, prefix, hash: tokenHash, expiresAt },
    };
    return { kind: "user", ownerId: userId, tokenId, expiresAt, overlapEndsAt: null, lastUsedAt, caller };
  }

  async #idToken(bearer: string): Promise<Credential | undefined> {
    const found = await this.#idTokens.find(bearer);
    if (found === undefined) return undefined;
    const { userId, userName, sessionId, client, expiresAt, lastSeenAt, authenticatedAt, isVouchedFor } = found;
    const caller: Caller = {
      principal: { type: "user", id: userId, name: userName },
      organizationId: undefined,
      permissions: client === undefined ? signedInPermissions : outsideClientPermissions,
      sessionId,
      client,
      authenticatedAt,
      isVouchedFor,
    };
    const kind = "session";
    return {
      kind,
      ownerId: userId,
      tokenId: sessionId,
      expiresAt,
      overlapEndsAt: null,
      lastUsedAt: lastSeenAt,
      caller,
    };
  }

  async #externalToken(bearer: string, sourceOf: () => RequestSource): Promise<Credential | undefined> {
    const found = await this.#externalBearers.find(bearer, sourceOf());
    if (found === undefined) return undefined;
    const { userId, userName, expiresAt } = found;
    const caller: Caller = {
      principal: { type: "user", id: userId, name: userName },
      organizationId: undefined,
      permissions: signedInPermissions,
      isVouchedFor: true,
    };
    return {
      kind: "external",
      ownerId: userId,
      tokenId: "",
      expiresAt,
      overlapEndsAt: null,
      lastUsedAt: null,
      caller,
    };
  }
}

interface KnownMembership {
  readonly permissions: PermissionSet;
  /** True when the organization demands a second factor, and `isBeyondPassword` is false for the user. */
  readonly lacksSecondFactor: boolean;
}

function grantedTo(
  { isVouchedFor, client }: Caller,
  membership: KnownMembership | undefined,
): PermissionSet | undefined {
  if (membership?.lacksSecondFactor && isVouchedFor !== true) throw secondFactorDemanded();
  return client === undefined ? membership?.permissions : withoutWithheld(membership?.permissions);
}

function membershipKey(userId: string, organizationId: string): string {
  return `${userId} ${organizationId}`;
}

interface Credential {
  /** `external` is a token of another issuer. The time of its last use is not stored. */
  readonly kind: CredentialKind | "external";
  readonly ownerId: string;
  readonly tokenId: string;
  readonly expiresAt: Timestamp | null;
  /** The time until which a secret that was rotated away still works. */
  readonly overlapEndsAt: Timestamp | null;
  readonly lastUsedAt: Timestamp | null;
  readonly caller: Caller;
}

function unknownCredential(): ServiceError {
  return new ServiceError(
    "AuthenticationError",
    "The token is not valid: it is mistyped, has ended, was revoked or was never issued. Send `Authorization: Bearer <token>` with a current one.",
  );
}

function earlier(one: Timestamp | null, other: Timestamp | null): Timestamp | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

function rotatedCredential(): ServiceError {
  return new ServiceError(
    "AuthenticationError",
    "The token was rotated, and its earlier secret is not valid any more. Send the current secret.",
  );
}

function expiredCredential(): ServiceError {
  return new ServiceError("AuthenticationError", "The token has expired. Send a current one.");
}
