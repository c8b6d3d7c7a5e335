import { networkOf } from "../../auth/credentials/network.ts";
import { MinuteCounts } from "../../auth/limits/minute-counts.ts";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import { guarded } from "./guarded-endpoints.ts";
import type { Look } from "./look.ts";
import { showProblem } from "./problem-page.ts";

/** More than the people of an office begin behind one address; few enough that what is kept of them stays small. */
const maxPerMinute = 600;

/** Where somebody of whom nothing is known makes the provider keep a row, for an hour. */
const beginnings: ReadonlySet<string> = new Set([
  guarded.authorization,
  guarded.deviceCodePage,
  guarded.deviceAuthorization,
  guarded.endSession,
]);

/** Bounds how many rows strangers make in the store, by their address and on this node. */
export function boundBegunSignIns(now: () => Timestamp, look: Look): Middleware {
  const counts = new MinuteCounts(maxPerMinute, now);
  return async (ctx, next) => {
    if (!beginnings.has(ctx.path)) return await next();
    const network = networkOf(ctx.ip);
    if (counts.isOver(network)) {
      ctx.set("retry-after", String(counts.secondsLeft()));
      const detail = "Too many sign-ins were begun from your address. Try again in a minute.";
      return showProblem(ctx, look, { status: 429, error: "temporarily_unavailable", detail });
    }
    counts.note(network);
    await next();
  };
}
