import type { Middleware } from "../../auth/oidc/provider.ts";
import { ServiceError } from "../../core/service-error.ts";
import { StoreUnavailableError, TransactionAbortedError } from "../../store/database.ts";
import { errorKinds } from "../errors.ts";
import { pageHeaders } from "../pages/page.ts";
import type { Look } from "./look.ts";
import { showProblem } from "./problem-page.ts";

/** The outermost: headers that every answer has, and answers where nothing within has one. */
export function protocolHeaders(look: Look): Middleware {
  return async (ctx, next) => {
    const { "content-type": _, ...headers } = pageHeaders({ formTargets: look.formTargets() }, look.isSecure());
    ctx.set(headers);
    // The provider's own in-between pages send themselves on with a script, whose hash it adds here.
    ctx.set("content-security-policy", `${headers["content-security-policy"]}; script-src 'none'`);
    try {
      await next();
    } catch (error) {
      const known = knownError(error);
      if (known === undefined) throw error;
      if (known.retryAfterSeconds !== undefined) ctx.set("retry-after", String(known.retryAfterSeconds));
      showProblem(ctx, look, {
        status: errorKinds[known.code].status,
        error: "temporarily_unavailable",
        detail: known.message,
      });
      return;
    }
    if (ctx.status === 404 && ctx.body === undefined) {
      showProblem(ctx, look, { status: 404, error: "not_found", detail: "There is no such page." });
    }
  };
}

function knownError(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof StoreUnavailableError || error instanceof TransactionAbortedError)) return undefined;
  const detail = "The store is out of reach. Try again in a moment.";
  return new ServiceError("UnavailableError", detail, { retryAfterSeconds: 2, cause: error });
}
