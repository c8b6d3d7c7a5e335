import type { Actor } from "../core/actor.ts";
import type { Timestamp } from "../core/time.ts";
import type { PermissionSet } from "./permissions/permissions.ts";
import type { Bounds } from "./permissions/token-bounds.ts";

/** The user or the API token that makes a request. */
export interface Caller {
  readonly principal: Actor & { readonly name: string };
  /** The one organization that an API token belongs to; undefined for a user, who may be a member of several. */
  readonly organizationId: string | undefined;
  /**
   * For an API token, its permissions in that organization. For a user, the permissions for requests outside of organizations. A user who calls
   * through an organization's OAuth client has fewer of them.
   */
  readonly permissions: PermissionSet;
  /** The bounds of a narrow API token, which limit it beyond its permissions. */
  readonly bounds?: Bounds | undefined;
  /** The API token or user token of the request. Undefined for an id token and for a token of an external issuer. */
  readonly token?: CallerToken | undefined;
  /** The id of the sign-in session, if the request has an id token. */
  readonly sessionId?: string | undefined;
  /** The organization's OAuth client through which the user calls. Such a caller reaches only that organization. */
  readonly client?: CallingClient | undefined;
  /** The time when an external issuer last asked the person to prove who they are; null or undefined if no issuer reported that time. */
  readonly authenticatedAt?: Timestamp | null | undefined;
  /** True if an external issuer vouches for the user: the issuer made the token of this request, or the user signed in at the issuer. */
  readonly isVouchedFor?: boolean | undefined;
}

export interface CallerToken {
  readonly tokenId: string;
  readonly prefix: string;
  /** The hash of the secret that was sent. It shows whether that is the current secret or one that was rotated away. */
  readonly hash: Buffer;
  readonly expiresAt: Timestamp | null;
}

export function actorOf({ principal: { type, id } }: Caller): Actor {
  return { type, id };
}

export interface CallingClient {
  readonly clientId: string;
  readonly organizationId: string;
}
