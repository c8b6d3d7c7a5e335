import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { commandLineClientId } from "../../auth/oidc/clients.ts";
import { cancelSignIn, completeSignIn } from "../../auth/oidc/complete-sign-in.ts";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import { knownDeviceCookie } from "../../auth/passwords/known-device.ts";
import type { SignInResult } from "../../auth/passwords/password-sign-in.ts";
import { secondsInWords } from "../../auth/passwords/sign-in-backoff.ts";
import type { ServerParts } from "../door/app.ts";
import { showWayOut } from "./external-sign-in.ts";
import { formTargetsOf, goTo, type Interaction, interactionOf, signInPath } from "./interaction.ts";
import type { Look } from "./look.ts";
import { showPage } from "./look.ts";
import { readForm } from "./posted-form.ts";
import { showTooLate } from "./problem-page.ts";
import { signInForm } from "./sign-in-form.ts";
import { openFirstStep, sealFirstStep } from "./sign-in-steps.ts";

const wrongPassword = "The e-mail address or the password is not right.";
const wrongCode = "The code is not right, or was used already. Wait for the next code.";

/** The page where people sign in with a password, and then with a second factor if the account has one. */
export function signInPage(provider: Provider, parts: ServerParts, look: Look): Middleware {
  const site = { provider, parts, look };
  return async (ctx, next) => {
    const uid = /^\/sign-in\/([\w-]{1,64})$/.exec(ctx.path)?.[1];
    if (uid === undefined || !(ctx.method === "GET" || ctx.method === "POST")) return await next();
    const interaction = await interactionOf(provider, ctx, uid);
    if (interaction === undefined) return showTooLate(ctx, look);
    if (ctx.method === "GET") return show(site, ctx, interaction, {});
    const form = await readForm(ctx, parts, look);
    if (form !== undefined) await answer(site, ctx, interaction, form);
  };
}

interface Site {
  readonly provider: Provider;
  readonly parts: ServerParts;
  readonly look: Look;
}

async function answer(
  site: Site,
  ctx: KoaContextWithOIDC,
  interaction: Interaction,
  form: URLSearchParams,
): Promise<void> {
  const { provider, parts, look } = site;
  const { openId, signIn, singleSignOn, secrets, engine, publicUrl } = parts;
  if (form.has("cancel")) return goTo(ctx, await cancelSignIn(provider, ctx));
  const firstStep = openFirstStep(secrets, interaction.uid, form.get("firstStep"), engine.now());
  const { email, password } = firstStep ?? { email: form.get("email") ?? "", password: form.get("password") ?? "" };
  // If a person's e-mail domain has a provider, the person signs in only there. So somebody who is removed at the provider cannot sign in here any
  // more.
  const theirs = singleSignOn.forEmail(email.trim());
  const action = signInPath(publicUrl(), interaction.uid);
  if (theirs !== undefined) return showWayOut(ctx, look, action, theirs, email.trim());
  if (firstStep === undefined && !form.has("password"))
    return show(site, ctx, interaction, { email, asksPassword: true });
  const code = firstStep === undefined ? undefined : (form.get("code") ?? "").trim() || undefined;
  const cookie = knownDeviceCookie(look.isSecure());
  const result = await signIn.attempt({
    email: email.trim(),
    password,
    code,
    address: ctx.ip,
    knownDevice: ctx.cookies.get(cookie.name),
  });
  if (result.outcome !== "accepted") {
    if (result.outcome === "blocked") ctx.set("retry-after", String(result.retryAfterSeconds));
    const resealed = sealFirstStep(secrets, interaction.uid, { email, password, at: engine.now() });
    show(site, ctx, interaction, { email, ...viewOf(result, firstStep !== undefined, resealed) });
    return;
  }
  // The account's own address is checked too, because a letter outside of ASCII can hide the domain in the typed address.
  const ofAccount = singleSignOn.forEmail(result.email);
  if (ofAccount !== undefined) return showWayOut(ctx, look, action, ofAccount, result.email);
  ctx.cookies.set(cookie.name, result.device, {
    httpOnly: true,
    sameSite: "strict",
    secure: look.isSecure(),
    path: "/",
    maxAge: cookie.maxAgeSeconds * 1_000,
  });
  const { userId, passwordChangedAt, deviceId } = result;
  const grounds = { type: "password", passwordChangedAt, deviceId } as const;
  const proven = { userId, signedInBy: "password", grounds };
  goTo(ctx, await completeSignIn(provider, openId.sessions, ctx, proven));
}

function show(
  { parts, look }: Site,
  ctx: KoaContextWithOIDC,
  interaction: Interaction,
  { status = 200, ...view }: SignInView,
): void {
  const { uid, params } = interaction;
  const forDevice = params.client_id === commandLineClientId;
  const email = view.email ?? (typeof params.login_hint === "string" ? params.login_hint : undefined);
  const action = signInPath(parts.publicUrl(), uid);
  const { providers } = parts.singleSignOn;
  // If there are providers, the page first asks only for the e-mail address, because people who sign in at a provider need no password here.
  const asksPassword = view.asksPassword ?? (view.email !== undefined || providers.length === 0);
  const content = signInForm({ ...view, email, action, forDevice, asksPassword, externalProviders: providers });
  const title = view.firstStep === undefined ? "Sign in" : "Second factor";
  showPage(ctx, look, { status, title, content, ...formTargetsOf(interaction) });
}

interface SignInView {
  readonly status?: number;
  readonly email?: string;
  /** The sealed first step, which the form of the second step sends back. */
  readonly firstStep?: string;
  readonly problem?: string;
  readonly asksPassword?: boolean;
}

/** Returns what the page shows next. A person who was asked for the code and gave a wrong one is asked for it again. */
function viewOf(
  result: Exclude<SignInResult, { readonly outcome: "accepted" }>,
  isSecondStep: boolean,
  firstStep: string,
): SignInView {
  const step = isSecondStep ? { firstStep } : {};
  switch (result.outcome) {
    case "code-needed":
      return { firstStep };
    case "rejected":
      return { ...step, status: 401, problem: isSecondStep ? wrongCode : wrongPassword };
    case "blocked":
      return { ...step, status: 429, problem: tooMany(result.retryAfterSeconds) };
  }
}

function tooMany(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  const wait = seconds < 60 ? secondsInWords(seconds) : minutes === 1 ? "a minute" : `${minutes} minutes`;
  return `Too many attempts were wrong. Try again in ${wait}.`;
}
