import { networkOf } from "../../auth/credentials/network.ts";
import { MinuteCounts } from "../../auth/limits/minute-counts.ts";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import type { Timestamp } from "../../core/time.ts";
import { guarded } from "./guarded-endpoints.ts";
import type { Look } from "./look.ts";
import { showProblem } from "./problem-page.ts";

/** An office behind one address begins fewer sign-ins than this in a minute, and the rows of this many sign-ins take little space. */
const maxPerMinute = 600;

/** The endpoints at which an unknown caller makes the provider write a row, which stays for up to an hour. */
const beginnings: ReadonlySet<string> = new Set([
  guarded.authorization,
  guarded.deviceCodePage,
  guarded.deviceAuthorization,
  guarded.endSession,
]);

/** Limits how many rows the unknown callers of one network make in the store through this node. */
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
