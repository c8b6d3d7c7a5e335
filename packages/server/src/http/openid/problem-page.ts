import type { KoaContextWithOIDC } from "oidc-provider";
import { alert } from "../pages/form.ts";
import { html } from "../pages/html.ts";
import { type Look, showPage } from "./look.ts";

export interface ProtocolProblem {
  readonly status: number;
  /** The error code: a code of OAuth if one fits, otherwise a code of the service. */
  readonly error: string;
  readonly detail: string;
}

/** Answers with a page for a person, or with JSON for a program. */
export function showProblem(ctx: KoaContextWithOIDC, look: Look, { status, error, detail }: ProtocolProblem): void {
  if (ctx.accepts("json", "html") !== "html") {
    ctx.status = status;
    ctx.body = { error, error_description: detail };
    return;
  }
  showPage(ctx, look, {
    status,
    title: "This did not work",
    content: html`${alert(detail)}
<p>Go back to where you came from and begin again, or start at <a href="${look.homeUrl()}">the first page</a>.</p>
<p class="note">If you ask for help, name this error: <code>${error}</code>, request ${ctx.response.get("x-request-id")}.</p>`,
  });
}

export const tooLate =
  "This sign-in took too long or was finished already, or your browser did not keep its cookies. Begin again.";

/** Shows that the person's sign-in does not exist any more, or that the browser did not send the cookie of the sign-in. */
export function showTooLate(ctx: KoaContextWithOIDC, look: Look): void {
  showProblem(ctx, look, { status: 400, error: "session_not_found", detail: tooLate });
}
