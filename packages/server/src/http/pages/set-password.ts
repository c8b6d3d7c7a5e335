import type { FastifyReply } from "fastify";
import { knownDeviceCookie } from "../../auth/passwords/known-device.ts";
import { ServiceError } from "../../core/service-error.ts";
import { findLinkedUser, setPasswordByLink } from "../../management/account/password-by-link.ts";
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
 * The page to which a password link leads. The form holds the secret of the link, and the page needs no cookie, so another site could send the form
 * for somebody only if it knew their link. The page works without JavaScript, so the secret is in the query. To protect it, the page loads nothing,
 * tells no other site its address (Referrer-Policy) and is never cached (Cache-Control).
 */
export function setPasswordRoutes(app: App, parts: ServerParts): void {
  void app.register(async (scope: App) => {
    parseForms(scope);
    scope.setErrorHandler((error, _request, reply) => sendError(reply, error));
    showSetPasswordPageRoute(scope, parts);
    submitSetPasswordPageRoute(scope, parts);
  });
}

function showSetPasswordPageRoute(app: App, parts: ServerParts): void {
  app.get(path, { schema: { ...schema, operationId: "ShowSetPasswordPage" } }, async (request, reply) => {
    const { link } = request.query as { readonly link?: unknown };
    const secret = typeof link === "string" ? link : "";
    const user = await findLinkedUser(parts, secret);
    return user === undefined ? sendDeadLink(reply) : sendForm(parts, reply, { secret, email: user.email });
  });
}

function submitSetPasswordPageRoute(app: App, parts: ServerParts): void {
  app.post(path, { schema: { ...schema, operationId: "SubmitSetPasswordPage" } }, async (request, reply) => {
    const secret = fieldIn(request.body, "link");
    const newPassword = fieldIn(request.body, "password");
    const user = await findLinkedUser(parts, secret);
    if (user === undefined) return sendDeadLink(reply);
    const { email } = user;
    if (newPassword !== fieldIn(request.body, "repeated")) {
      return sendForm(parts, reply, { secret, email, problem: "The two passwords are not the same." });
    }
    const result = await setPasswordByLink(parts, { secret, newPassword, address: addressOf(request) });
    switch (result.outcome) {
      case "dead-link":
        return sendDeadLink(reply);
      case "rejected":
        return sendForm(parts, reply, { secret, email, problem: `The password ${result.problems[0]?.detail}.` });
      case "set":
        keepDevice(parts, reply, result.device);
        return sendDone(parts, reply, email);
    }
  });
}

interface PasswordForm {
  readonly secret: string;
  readonly email: string;
  readonly problem?: string;
}

function sendForm(parts: ServerParts, reply: FastifyReply, { secret, email, problem }: PasswordForm): FastifyReply {
  const content = html`${alert(problem)}
<form method="post" action="${parts.basePath}${path}">
${hiddenField("link", secret)}
<p>For <strong>${email}</strong></p>
<input type="text" name="username" value="${email}" autocomplete="username" hidden>
${field({
  name: "password",
  label: "New password",
  type: "password",
  autocomplete: "new-password",
  hint: "At least 12 characters, of any kind. A few words in a row are good.",
  isFirst: true,
})}
${field({ name: "repeated", label: "Confirm password", type: "password", autocomplete: "new-password" })}
${button("Set the password")}
</form>`;
  return sendPage(reply, { status: problem === undefined ? 200 : 400, title: "Choose a password", content });
}

/** Makes the browser a known device. The owner of the account signs in here next, and wrong guesses of somebody else must not delay this sign-in. */
function keepDevice({ publicUrl }: ServerParts, reply: FastifyReply, device: string): void {
  const isSecure = publicUrl().startsWith("https:");
  const { name, maxAgeSeconds } = knownDeviceCookie(isSecure);
  const attributes = ["Path=/", `Max-Age=${maxAgeSeconds}`, "HttpOnly", "SameSite=Strict"];
  if (isSecure) attributes.push("Secure");
  reply.header("set-cookie", [`${name}=${device}`, ...attributes].join("; "));
}

function sendDone({ basePath, singleSignOn }: ServerParts, reply: FastifyReply, email: string): FastifyReply {
  const provider = singleSignOn.forEmail(email);
  const use =
    provider === undefined
      ? "Sign in with it from now on."
      : `You still sign in with ${provider.name}. Use the password where the service asks for one after the sign-in.`;
  const content = html`<p>${use} All sessions of your account have ended, whoever had them. All user tokens of the account have ended too, except one that was made together with the link.</p>
${linkButton("Sign in", `${basePath}/`)}`;
  return sendPage(reply, { title: "Your password is set", content });
}

/** Shows the same page for used, expired, replaced and made-up links. */
function sendDeadLink(reply: FastifyReply): FastifyReply {
  const content = html`<p>The link was used already, has expired, or was replaced by a newer one. Ask the person who gave it to you for a new one.</p>`;
  return sendPage(reply, { status: 404, title: "This link does not work", content });
}

/** Shows a page for a `ServiceError`. Throws any other error, so that it is logged with all others. */
function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof ServiceError)) throw error;
  const { status } = errorKinds[error.code];
  if (error.retryAfterSeconds !== undefined) reply.header("retry-after", String(error.retryAfterSeconds));
  return sendPage(reply, { status, title: "Not now", content: html`<p>${error.message}</p>` });
}
