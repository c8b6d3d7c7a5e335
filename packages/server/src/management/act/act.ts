import type { Authenticator } from "../../auth/authenticator.ts";
import type { Caller } from "../../auth/caller.ts";
import type { DeclaredPermission } from "../../auth/permissions/permissions.ts";
import type { RequestSource } from "../../auth/request-source.ts";
import type { Config, MaximumName } from "../../config.ts";
import type { Actor } from "../../core/actor.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Database } from "../../store/home/database.ts";
import type { Precondition } from "./precondition.ts";

/** One act: the actor, the operation and the origin of the request. The audit trail records all of it. */
export interface Act extends RequestSource {
  readonly actor: Actor & { readonly name?: string };
  /**
   * The operation's name in the HTTP document. An act of the operator on the store, or of an identity provider, is no operation of the document, but
   * its name has the same form.
   */
  readonly operation: string;
  /** The organization's OAuth client that the actor uses, if any. */
  readonly clientId?: string | undefined;
  /** Called when the act made something that counts towards a maximum. */
  readonly onCounted?: (used: UsedMaximum) => void;
}

/** One maximum of an organization, or of an account (`organizations`, `userTokens`), and its use. */
export interface UsedMaximum<Name extends string = MaximumName | "organizations" | "userTokens"> {
  readonly name: Name;
  readonly maximum: number;
  /** True if the operator set the maximum for this organization or this account alone. */
  readonly isOwn: boolean;
  readonly usedCount: number;
}

/** An act that a caller requested with a credential. The credential may have ended or lost a permission after it was checked. */
export interface CallerAct extends Act {
  readonly actor: Caller["principal"];
  readonly caller: Caller;
  readonly permission: DeclaredPermission;
  /** The key that identifies a repetition of the act; undefined when the request has none. */
  readonly repetition: RepetitionKey | undefined;
  readonly precondition: Precondition | undefined;
}

export interface RepetitionKey {
  readonly key: string;
  /** The hash of the whole request. The same key with a different request is a conflict. */
  readonly requestHash: Buffer;
  /** The number of this attempt, from 1; 0 when the client does not count. */
  readonly attempt: number;
  /** Called when this attempt is a repetition that gets the answer of the first attempt. */
  readonly onReplayed: () => void;
}

/** Tells the database's time. */
export type Clock = Pick<Engine, "now">;

export interface ManagementParts {
  readonly database: Database;
  readonly engine: Pick<Engine, "now" | "newId">;
  readonly config: Config;
}

/**
 * Everything that a change needs if it ends a credential or takes permissions away: this node remembers credentials and permissions for a moment, and
 * must forget them as soon as the change is made.
 */
export interface RevokingParts extends ManagementParts {
  readonly authenticator: Pick<Authenticator, "forgetToken" | "forgetUser" | "forgetMembership" | "forgetOrganization">;
}
