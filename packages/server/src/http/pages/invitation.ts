import type { FastifyReply, FastifyRequest } from "fastify";
import { problemsOfNewPassword } from "../../auth/passwords/password-rules.ts";
import { secondsInWords } from "../../auth/passwords/sign-in-backoff.ts";
import { sealOpenedLink } from "../../auth/passwords/sign-in-link.ts";
import { hasFormat } from "../../core/schema/formats/format.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { Timestamp } from "../../core/time.ts";
import type { Act } from "../../management/act/act.ts";
import {
  acceptInvitation,
  type ShownInvitation,
  showInvitation,
} from "../../management/membership/invitation-acceptance.ts";
import { joinAsNewcomer } from "../../management/membership/newcomer.ts";
import { findUsers } from "../../store/people/users.ts";
import type { App, ServerParts } from "../door/app.ts";
import { addressOf, sourceOf } from "../door/client-address.ts";
import { errorKinds } from "../door/errors.ts";
import { isName } from "../door/schemas.ts";
import { linkButton } from "./form.ts";
import { fieldIn, parseForms } from "./form-body.ts";
import { html, type Markup } from "./html.ts";
import { type InvitationForms, invitationForms } from "./invitation-forms.ts";
import { sendPage } from "./page.ts";
import { openedLinkHeader } from "./sign-in-link.ts";

const path = "/invitations/:code";
const operation = "AcceptInvitation";
const schema = { hide: true, "x-permission": "none", tags: ["invitations"] } as const;
/** An e-mail address is never longer (RFC 5321). */
const maxEmailLength = 254;

interface Visit {
  readonly code: string;
  readonly shown: ShownInvitation;
}

/**
 * The page to which an invitation's link leads. It makes an account, or asks for the password of an existing one, and accepts the invitation in the
 * same step. The page reads no cookie: only the form says who acts, so another site cannot send the form in somebody's name. People who joined on
 * this page need not type their password again: instead, the sign-in accepts a cookie, once and within a minute. Another site can still send the form
 * with an account of its own. The answer then sets no cookie; otherwise that site could sign the browser in to that account. If a person's domain has
 * a provider, the person can sign in only at that provider, so the page takes no password from them.
 */
export function invitationPage(app: App, parts: ServerParts): void {
  void app.register(async (scope: App) => {
    parseForms(scope);
    scope.setErrorHandler((error, _request, reply) => sendError(reply, error));

    scope.get(path, { schema: { ...schema, operationId: "ShowInvitationPage" } }, async (request, reply) => {
      const visit = await visitOf(parts, request);
      const { email } = visit.shown.invitation;
      const knownProblem = email === null ? undefined : providerProblem(parts, visit, email);
      return sendForms(parts, reply, visit, knownProblem === undefined ? {} : { knownProblem, status: 200 });
    });

    // The page carries out an operation of the API, and the audit trail records it under that operation's name.
    scope.post(path, { schema: { ...schema, operationId: operation } }, async (request, reply) => {
      const visit = await visitOf(parts, request);
      const fixedEmail = visit.shown.invitation.email;
      return fieldIn(request.body, "account") === "new"
        ? await joinNew(parts, request, reply, visit, fixedEmail ?? fieldIn(request.body, "newEmail").trim())
        : await joinKnown(parts, request, reply, visit, fixedEmail ?? fieldIn(request.body, "email").trim());
    });
  });
}

async function visitOf({ database, engine }: ServerParts, request: FastifyRequest): Promise<Visit> {
  const { code } = request.params as { readonly code: string };
  return { code, shown: await showInvitation(database, code, engine.now()) };
}

async function joinNew(parts: ServerParts, request: FastifyRequest, reply: FastifyReply, visit: Visit, email: string) {
  const displayName = fieldIn(request.body, "displayName").trim();
  const password = fieldIn(request.body, "newPassword");
  const typed = { email, displayName };
  const problem = providerProblem(parts, visit, email) ?? problemOf(parts, typed, password);
  if (problem !== undefined) return sendForms(parts, reply, visit, { ...typed, newProblem: problem });
  const joined = await joinAsNewcomer(parts, visitorActOf(request), { code: visit.code, ...typed, password });
  if (joined === undefined) return sendForms(parts, reply, visit, { ...typed, newProblem: addressTaken });
  return sendJoined(parts, request, reply, visit, joined);
}

function problemOf({ config }: ServerParts, typed: { email: string; displayName: string }, password: string) {
  if (typed.email.length > maxEmailLength || !hasFormat(typed.email, "email")) return "That is not an e-mail address.";
  if (!isName(typed.displayName, config.maxNameLength)) {
    return `Give a name that people can read, with at most ${config.maxNameLength} characters.`;
  }
  const [problem] = problemsOfNewPassword(password, typed.email, "");
  return problem === undefined ? undefined : `The password ${problem.detail}.`;
}

/** Says how people who sign in only at a provider accept an invitation; undefined for all other people. */
function providerProblem({ singleSignOn, basePath }: ServerParts, { code }: Visit, email: string): Markup | undefined {
  const provider = singleSignOn.forEmail(email);
  if (provider === undefined) return undefined;
  const { name } = provider;
  return html`With this e-mail address, you sign in with ${name}, and no password is accepted. <a href="${basePath}/app/invitations/${code}">Accept the invitation in the dashboard</a>: you sign in with ${name} there.`;
}

async function joinKnown(
  parts: ServerParts,
  request: FastifyRequest,
  reply: FastifyReply,
  visit: Visit,
  email: string,
) {
  const problem = providerProblem(parts, visit, email);
  if (problem !== undefined) return sendForms(parts, reply, visit, { email, knownProblem: problem });
  const code = fieldIn(request.body, "code").trim();
  const result = await parts.signIn.attempt({
    email,
    password: fieldIn(request.body, "password"),
    code: code === "" ? undefined : code,
    address: addressOf(request),
    knownDevice: undefined,
  });
  switch (result.outcome) {
    case "rejected":
      return sendForms(parts, reply, visit, {
        email,
        knownProblem: "The e-mail address, the password or the code is wrong.",
      });
    case "code-needed":
      return sendForms(parts, reply, visit, { email, knownProblem: "Your account has a second factor: add its code." });
    case "blocked":
      reply.header("retry-after", String(result.retryAfterSeconds));
      return sendForms(parts, reply, visit, {
        email,
        knownProblem: `Too many attempts were wrong. Try again in ${secondsInWords(result.retryAfterSeconds)}.`,
        status: errorKinds.RateLimitError.status,
      });
    case "accepted": {
      // The account's own address is checked too, because a letter outside of ASCII can hide the domain in the typed address.
      const knownProblem = providerProblem(parts, visit, result.email);
      if (knownProblem !== undefined) return sendForms(parts, reply, visit, { email, knownProblem });
      await acceptAs(parts, request, result.userId, visit.code);
      return sendJoined(parts, request, reply, visit, result);
    }
  }
}

async function acceptAs(parts: ServerParts, request: FastifyRequest, userId: string, code: string): Promise<void> {
  const [user] = await findUsers(parts.database, [userId]);
  if (user === undefined) throw new Error("The user who signed in has no account.");
  const actor = { type: "user", id: userId, name: user.displayName } as const;
  await acceptInvitation(parts, { ...visitorActOf(request), actor }, code);
}

function sendForms(
  { basePath }: ServerParts,
  reply: FastifyReply,
  { code, shown }: Visit,
  forms: InvitationForms,
): FastifyReply {
  const content = invitationForms(`${basePath}/invitations/${code}`, shown, forms);
  const isWrong = forms.newProblem !== undefined || forms.knownProblem !== undefined;
  const status = forms.status ?? (isWrong ? errorKinds.ValidationError.status : 200);
  return sendPage(reply, { status, title: `Join ${shown.organization.displayName}`, content });
}

function sendJoined(
  { engine, basePath, publicUrl, secrets }: ServerParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { shown }: Visit,
  { userId, passwordChangedAt }: { readonly userId: string; readonly passwordChangedAt: Timestamp | null },
): FastifyReply {
  const { organizationId, displayName } = shown.organization;
  const content = html`<p>You are a member of <strong>${displayName}</strong> now.</p>
${linkButton(`Open ${displayName}`, `${basePath}/app/organizations/${organizationId}`)}`;
  if (request.headers["sec-fetch-site"] === "same-origin") {
    const opened = sealOpenedLink(secrets, { userId, password: { changedAt: passwordChangedAt } }, engine.now());
    reply.header("set-cookie", openedLinkHeader(basePath, publicUrl(), opened));
  }
  return sendPage(reply, { title: "Welcome", content });
}

/** Shows a page for a `ServiceError`. Throws any other error, so that it is logged with all others. */
function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof ServiceError)) throw error;
  const { status } = errorKinds[error.code];
  if (error.retryAfterSeconds !== undefined) reply.header("retry-after", String(error.retryAfterSeconds));
  const isUnknown = error.code === "NotFoundError";
  const content = html`<p>${isUnknown ? deadLink : error.message}</p>`;
  return sendPage(reply, { status, title: "This invitation does not work", content });
}

function visitorActOf(request: FastifyRequest): Omit<Act, "actor"> {
  return { operation, ...sourceOf(request) };
}

const addressTaken = "There is already an account with this address. Sign in with it below.";
const deadLink =
  "The invitation has expired or was revoked, or the link is incomplete. Ask the person who sent it to you for a new one.";
