import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import type { Sessions } from "./sessions.ts";

/** Who signed in, and what proved it. */
export interface ProvenUser {
  readonly userId: string;
  /** `password`, `link`, or the name of an issuer outside. */
  readonly signedInBy: string;
}

/**
 * Ends a sign-in in success, whoever proved who it is: begins the session, and answers the address at which the browser goes on with what
 * it was signing in for.
 */
export async function completeSignIn(
  provider: Provider,
  sessions: Sessions,
  ctx: KoaContextWithOIDC,
  { userId, signedInBy }: ProvenUser,
): Promise<string> {
  const sessionId = await sessions.begin({ userId, signedInBy, userAgent: ctx.get("user-agent"), address: ctx.ip });
  const result = { login: { accountId: userId }, signIn: { sessionId } };
  return await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
}

/** The person does not want to. The client is told so. */
export async function refuseSignIn(provider: Provider, ctx: KoaContextWithOIDC): Promise<string> {
  const result = { error: "access_denied", error_description: "The sign-in was cancelled." };
  return await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
}
