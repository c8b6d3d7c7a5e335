import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import type { AccountAction } from "../../store/people/account-activity.ts";
import { type GrantOwner, ownerOfGrant } from "./grant-id.ts";
import type { Middleware } from "./provider-parts.ts";
import type { Sessions } from "./sessions.ts";

/** The name under which the provider keeps the browser's own session, beside the sessions of OAuth clients. */
export const browserSession = "browser";

const ends = new WeakMap<object, Map<string, Pick<GrantOwner, "userId" | "sessionId">>>();

/**
 * Notes the sessions that the provider ends in a request. They are only noted, since the provider emits an event and does not wait for a listener.
 */
export function noteEnds(provider: Provider): void {
  provider.on("grant.revoked", (ctx, grantId) => {
    const owner = ownerOfGrant(grantId);
    if (owner !== undefined) note(ctx, owner);
  });
  provider.on("end_session.success", (ctx) => {
    const { session } = ctx.oidc;
    const sessionId = session?.sidFor(browserSession);
    if (session?.accountId !== undefined && sessionId !== undefined)
      note(ctx, { userId: session.accountId, sessionId });
  });
}

/** Ends the noted sessions before the request is answered. If the request has a transaction, they are ended in it. */
export function endRevokedSessions(sessions: Sessions): Middleware {
  return async (ctx, next) => {
    await next();
    for (const key of ends.get(ctx)?.values() ?? []) {
      await sessions.end({ ...key, action: reasonOf(ctx), address: ctx.ip });
    }
  };
}

/**
 * Removes the noted sessions from this node's memory. It runs outside of the transaction of the request, because the change must be committed first.
 */
export function forgetEndedSessions(onSessionsEnded: (userId: string) => void): Middleware {
  return async (ctx, next) => {
    await next();
    for (const { userId } of ends.get(ctx)?.values() ?? []) onSessionsEnded(userId);
  };
}

function note(ctx: KoaContextWithOIDC, { userId, sessionId }: Pick<GrantOwner, "userId" | "sessionId">): void {
  const noted = ends.get(ctx) ?? new Map();
  noted.set(sessionId, { userId, sessionId });
  ends.set(ctx, noted);
}

/** The provider revokes a grant at the token endpoint only when a code or a token was used a second time. */
function reasonOf(ctx: KoaContextWithOIDC): AccountAction {
  if (ctx.oidc.route !== "token") return "signed-out";
  return ctx.oidc.params?.grant_type === "refresh_token" ? "refresh-token-reused" : "authorization-code-reused";
}
