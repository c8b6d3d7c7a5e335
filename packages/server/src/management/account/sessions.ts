import type { Sessions } from "../../auth/oidc/sessions.ts";
import { notFound } from "../../core/service-error.ts";
import type { Act, RevokingParts } from "../act/act.ts";

export interface SessionParts extends Pick<RevokingParts, "authenticator"> {
  readonly openId: { readonly sessions: Pick<Sessions, "end"> };
}

/**
 * Ends one of the user's own sessions, with every token that was issued in it. To end the session of the request means to sign out. Throws 404 when
 * there is no such session.
 */
export async function endSession(
  { openId, authenticator }: SessionParts,
  { actor, address }: Act,
  { sessionId, currentSessionId }: { readonly sessionId: string; readonly currentSessionId: string | undefined },
): Promise<void> {
  const action = sessionId === currentSessionId ? "signed-out" : "session-ended";
  const end = { userId: actor.id, sessionId, action, address } as const;
  if (!(await openId.sessions.end(end))) throw notFound("session");
  authenticator.forgetUser(actor.id);
}
