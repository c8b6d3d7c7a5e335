import type { FastifyReply } from "fastify";
import { findLinkedUser, setPasswordByLink } from "../../auth/passwords/password-change.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { App, ServerParts } from "../door/app.ts";
import { addressOf } from "../door/client-address.ts";
import { errorKinds } from "../door/errors.ts";
import { alert, button, field, hiddenField, linkButton } from "./form.ts";
import { fieldIn, parseForms } from "./form-body.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";

const path = "/set-password";
const schema = { hide: true, "x-permission": "none", tags: ["account"] } as const;

/**
 * The page to which a password link leads. The secret of the link is in the form and the service sets no cookie: whoever could make a
 * browser send this form for somebody else would have to know that somebody's link. It works without JavaScript, so the secret stands in the
 * query; the page loads nothing, tells no other site where it was (Referrer-Policy) and is kept nowhere (Cache-Control).
 */
export function setPasswordRoutes(app: App, routes: ServerParts): void {
  const { engine, database, signIn, authenticator, basePath, publicUrl } = routes;
  const parts = { database, signIn, now: () => engine.now(), newId: () => engine.newId() };

  void app.register(async (scope: App) => {
    parseForms(scope);
    scope.setErrorHandler((error, _request, reply) => sendError(reply, error));

    scope.get(path, { schema: { ...schema, operationId: "ShowSetPasswordPage" } }, async (request, reply) => {
      const { link } = request.query as { readonly link?: unknown };
      const secret = typeof link === "string" ? link : "";
      const user = await findLinkedUser(parts, secret);
      return user === undefined ? sendDeadLink(reply) : sendForm(reply, { secret, email: user.email });
    });

    scope.post(path, { schema: { ...schema, operationId: "SubmitSetPasswordPage" } }, async (request, reply) => {
      const secret = fieldIn(request.body, "link");
      const newPassword = fieldIn(request.body, "password");
      const user = await findLinkedUser(parts, secret);
      if (user === undefined) return sendDeadLink(reply);
      if (newPassword !== fieldIn(request.body, "repeated")) {
        return sendForm(reply, { secret, email: user.email, problem: "The two passwords are not the same." });
      }
      const problems = await setPasswordByLink(parts, { secret, newPassword, address: addressOf(request) });
      if (problems === undefined) return sendDeadLink(reply);
      const [first] = problems;
      if (first !== undefined)
        return sendForm(reply, { secret, email: user.email, problem: `The password ${first.detail}.` });
      authenticator.forgetAll();
      return sendPage(
        reply,
        {
          title: "Your password is set",
          content: html`<p>Sign in with it from now on. Whoever was signed in to your account before is not any more.</p>
${linkButton("Sign in", `${basePath}/`)}`,
        },
        isSecure(),
      );
    });
  });

  function isSecure(): boolean {
    return publicUrl().startsWith("https:");
  }

  function sendForm(reply: FastifyReply, form: { secret: string; email: string; problem?: string }): FastifyReply {
    const content = html`${alert(form.problem)}
<form method="post" action="${basePath}${path}">
${hiddenField("link", form.secret)}
<p>For <strong>${form.email}</strong></p>
<input type="text" name="username" value="${form.email}" autocomplete="username" hidden>
${field({
  name: "password",
  label: "New password",
  type: "password",
  autocomplete: "new-password",
  hint: "At least 12 characters, of any kind. A few words in a row are good.",
  isFirst: true,
})}
${field({ name: "repeated", label: "The same again", type: "password", autocomplete: "new-password" })}
${button("Set the password")}
</form>`;
    const status = form.problem === undefined ? 200 : 400;
    return sendPage(reply, { status, title: "Choose a password", content }, isSecure());
  }

  /** What is no error of the visitor goes on to where all other errors are logged. */
  function sendError(reply: FastifyReply, error: unknown): FastifyReply {
    if (!(error instanceof ServiceError)) throw error;
    const { status } = errorKinds[error.code];
    if (error.retryAfterSeconds !== undefined) reply.header("retry-after", String(error.retryAfterSeconds));
    return sendPage(reply, { status, title: "Not now", content: html`<p>${error.message}</p>` }, isSecure());
  }

  /** The same page for used, ended, replaced and invented links. */
  function sendDeadLink(reply: FastifyReply): FastifyReply {
    const content = html`<p>It was used already, has ended, or was replaced by a newer one. Ask for another where you got this one.</p>`;
    return sendPage(reply, { status: 404, title: "This link does not work", content }, isSecure());
  }
}
