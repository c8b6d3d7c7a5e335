import type { KoaContextWithOIDC } from "oidc-provider";
import type { ServerParts } from "../door/app.ts";
import type { Look } from "./look.ts";
import { showProblem } from "./problem-page.ts";
import { readBody } from "./request-body.ts";

const maxFormBytes = 16 * 1024;

/** Reads a form of the sign-in's pages. Returns undefined when the form was rejected and the answer has been written. */
export async function readForm(
  ctx: KoaContextWithOIDC,
  { publicUrl }: Pick<ServerParts, "publicUrl">,
  look: Look,
): Promise<URLSearchParams | undefined> {
  // This is a second guard: browsers do not even send the cookie with a form of another site.
  if (ctx.get("origin") !== "" && ctx.get("origin") !== new URL(publicUrl()).origin) {
    const detail = "This form was sent from another site.";
    showProblem(ctx, look, { status: 403, error: "access_denied", detail });
    return undefined;
  }
  const body = ctx.is("application/x-www-form-urlencoded") ? await readBody(ctx.req, maxFormBytes) : Buffer.alloc(0);
  if (body !== undefined) return new URLSearchParams(body.toString("utf8"));
  ctx.set("connection", "close");
  const detail = "The request is larger than this form allows.";
  showProblem(ctx, look, { status: 400, error: "invalid_request", detail });
  return undefined;
}
