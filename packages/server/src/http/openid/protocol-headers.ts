import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import { ServiceError } from "../../core/service-error.ts";
import { StoreUnavailableError, TransactionAbortedError } from "../../store/home/database.ts";
import { errorKinds } from "../door/errors.ts";
import { pageHeaders } from "../pages/page.ts";
import type { Look } from "./look.ts";
import { type ProtocolProblem, showProblem } from "./problem-page.ts";

/** The outermost handler. It sets the headers of every answer, and writes an answer if no inner handler did. */
export function protocolHeaders(look: Look): Middleware {
  return async (ctx, next) => {
    const { "content-type": _, ...headers } = pageHeaders({ formTargets: look.formTargets() });
    ctx.set(headers);
    // The provider's own intermediate pages submit themselves with a script. The provider adds the script's hash here; browsers then ignore 'none'.
    ctx.set("content-security-policy", `${headers["content-security-policy"]}; script-src 'none'`);
    try {
      await next();
    } catch (error) {
      const problem = ctx.req.complete ? (problemOf(error) ?? ourFault) : cutOff;
      if (problem === ourFault) ctx.app.emit("error", error, ctx);
      if (problem.retryAfterSeconds !== undefined) ctx.set("retry-after", String(problem.retryAfterSeconds));
      showProblem(ctx, look, problem);
      return;
    }
    if (ctx.status === 404 && ctx.body === undefined) {
      showProblem(ctx, look, { status: 404, error: "not_found", detail: "There is no such page." });
    }
  };
}

interface AnsweredProblem extends ProtocolProblem {
  readonly retryAfterSeconds?: number | undefined;
}

const ourFault: AnsweredProblem = {
  status: 500,
  error: "server_error",
  detail: "Something went wrong here; it is not your fault.",
};

/** The client has disconnected, so nobody reads this answer. It only keeps an error of the client out of the log of defects. */
const cutOff: AnsweredProblem = {
  status: 400,
  error: "invalid_request",
  detail: "The request ended before its body was complete.",
};

const storeAway: AnsweredProblem = {
  status: 503,
  error: "temporarily_unavailable",
  detail: "The store is out of reach. Try again in a moment.",
  retryAfterSeconds: 2,
};

/** Returns undefined for an error that is a defect. */
function problemOf(error: unknown): AnsweredProblem | undefined {
  if (error instanceof ServiceError) {
    const { code, message: detail, retryAfterSeconds } = error;
    return { status: errorKinds[code].status, error: "temporarily_unavailable", detail, retryAfterSeconds };
  }
  // The provider wraps the errors that it receives.
  const isStoreAway = isUnavailable(error) || (error instanceof Error && isUnavailable(error.cause));
  return isStoreAway ? storeAway : undefined;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailableError || error instanceof TransactionAbortedError;
}
