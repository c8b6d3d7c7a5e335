import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { ServiceError } from "../../core/service-error.ts";
import type { SessionGrounds, Sessions } from "./sessions.ts";

/** A person who signed in, and how they proved who they are. */
export interface ProvenUser {
  readonly userId: string;
  /** `password`, `link`, or the value that `signInNameOf` returns for an external issuer. */
  readonly signedInBy: string;
  readonly grounds: SessionGrounds;
}

/**
 * Completes a sign-in: begins the session, and returns the address at which the browser continues. Throws `ServiceError` when the grounds of the
 * session are no longer valid.
 */
export async function completeSignIn(
  provider: Provider,
  sessions: Sessions,
  ctx: KoaContextWithOIDC,
  { userId, signedInBy, grounds }: ProvenUser,
): Promise<string> {
  const sessionId = await sessions.begin({
    userId,
    signedInBy,
    grounds,
    userAgent: ctx.get("user-agent"),
    address: ctx.ip,
  });
  if (sessionId === undefined) {
    throw new ServiceError(
      "ConflictError",
      "Your password has just been changed or removed, or your account was disabled. Sign in again.",
    );
  }
  const result = { login: { accountId: userId }, signIn: { sessionId } };
  return await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
}

/** Ends a sign-in that the person cancelled, and returns the address that leads the browser back to the client. */
export async function cancelSignIn(provider: Provider, ctx: KoaContextWithOIDC): Promise<string> {
  const result = { error: "access_denied", error_description: "The sign-in was cancelled." };
  return await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
}
