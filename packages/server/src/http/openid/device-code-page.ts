import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import {
  addressSubject,
  blockedForSeconds,
  claimAttempt,
  refundAttempt,
} from "../../auth/passwords/sign-in-backoff.ts";
import type { ServerParts } from "../door/app.ts";
import { guarded } from "./guarded-endpoints.ts";
import type { Look } from "./look.ts";
import { showProblem, showTooLate } from "./problem-page.ts";

/** Guards the page on which people type a device's code. A link may contain the code, and the number of wrong codes is limited. */
export function deviceCodePage(provider: Provider, { engine, database }: ServerParts, look: Look): Middleware {
  return async (ctx, next) => {
    if (goesOnInSession(ctx) && !ctx.cookies.get(provider.cookieName("session"))) return showTooLate(ctx, look);
    if (ctx.path !== guarded.deviceCodePage) return await next();
    if (ctx.method !== "POST") {
      // By itself, the provider would let a script submit the code of a link. Here the person has to submit it.
      const code = ctx.query.user_code;
      if (typeof code === "string") typedCodes.set(ctx, code.slice(0, maxCodeLength));
      ctx.querystring = "";
      return await next();
    }
    const subjects = [addressSubject(ctx.ip)];
    const claims = await claimAttempt(database, subjects, engine.now());
    if (claims === undefined) {
      const seconds = (await blockedForSeconds(database, subjects, engine.now())) ?? 1;
      ctx.set("retry-after", String(seconds));
      const detail = "Too many attempts from your address failed. Try again later.";
      return showProblem(ctx, look, { status: 429, error: "too_many_attempts", detail });
    }
    await next();
    if (!wrongCodes.has(ctx)) await refundAttempt(database, claims);
  };
}

/**
 * True for requests that need the session that the page began: the request that sends a code, and the return from the sign-in. The provider answers
 * them with a form that it notes in the session, and fails if the browser sends no session.
 */
function goesOnInSession({ method, path }: KoaContextWithOIDC): boolean {
  if (method === "POST") return path === guarded.deviceCodePage;
  return path.toLowerCase().startsWith(`${guarded.deviceCodePage}/`);
}

const maxCodeLength = 20;
const typedCodes = new WeakMap<object, string>();
const wrongCodes = new WeakSet<object>();

/** Returns the code that the link contained. */
export function typedCodeOf(ctx: KoaContextWithOIDC): string | undefined {
  return typedCodes.get(ctx);
}

export function markWrongCode(ctx: KoaContextWithOIDC): void {
  wrongCodes.add(ctx);
}
