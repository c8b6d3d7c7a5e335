import type { KoaContextWithOIDC } from "oidc-provider";
import type { AskingDevice, DeviceCodeProblem, ProviderPages } from "../../auth/oidc/provider-parts.ts";
import { alert, button, field, hiddenField } from "../pages/form.ts";
import { html } from "../pages/html.ts";
import { markWrongCode, typedCodeOf } from "./device-code-page.ts";
import { type Look, showPage } from "./look.ts";
import { showProblem, tooLate } from "./problem-page.ts";

/** The pages that the provider shows by itself. */
export function providerPages(look: Look): ProviderPages {
  return {
    enterDeviceCode: (ctx, problem) =>
      problem === "cancelled" ? showCancelled(ctx, look) : showDeviceCodeForm(ctx, look, problem),
    confirmDevice: (ctx, device) => showDeviceConfirmation(ctx, look, device),
    deviceSignedIn: (ctx) => showDeviceSignedIn(ctx, look),
    confirmSignOut: (ctx) => showSignOutConfirmation(ctx, look),
    signedOut: (ctx) => showSignedOut(ctx, look),
    error: (ctx, problem) => showError(ctx, look, problem),
  };
}

type FormProblem = Exclude<DeviceCodeProblem, "cancelled">;

const problems: Readonly<Record<FormProblem, string>> = {
  "not-a-code": "This code is wrong, was used already, or has expired. Look at the device again, or start again there.",
  failed: "The device could not be signed in. Start again there.",
};

const explanations: Readonly<Record<string, string>> = {
  invalid_client: "This service does not know the program that sent you here.",
  invalid_redirect_uri: "The program that sent you here wants to continue at an address that is not registered for it.",
  server_error: "Something went wrong here; it is not your fault.",
  temporarily_unavailable: "The store is out of reach. Try again in a moment.",
};

function showDeviceCodeForm(ctx: KoaContextWithOIDC, look: Look, problem: FormProblem | undefined): void {
  if (problem === "not-a-code") markWrongCode(ctx);
  const typed = typedCodeOf(ctx);
  showPage(ctx, look, {
    title: "Authorize device",
    content: html`${alert(problem === undefined ? undefined : problems[problem])}
<p>Enter the code that the device or command line shows.</p>
<form method="post" action="${ctx.oidc.urlFor("code_verification")}">
${hiddenField("xsrf", secretOf(ctx))}
${field({
  name: "user_code",
  label: "Code",
  type: "text",
  autocomplete: "off",
  hint: "Eight letters, for example BCDF-GHJK.",
  maxLength: 20,
  isFirst: true,
  ...(typed !== undefined && { value: typed }),
})}
${button("Continue")}
</form>`,
  });
}

function showDeviceConfirmation(
  ctx: KoaContextWithOIDC,
  look: Look,
  { clientName, userCode, address, userAgent }: AskingDevice,
): void {
  showPage(ctx, look, {
    title: "Authorize this device?",
    content: html`<p>The device will be able to do everything that you can do. Continue only if you started this yourself, and the device shows exactly this code:</p>
<p class="code">${userCode}</p>
<dl>
<dt>Application</dt><dd>${clientName}</dd>
<dt>IP address</dt><dd>${address === "" ? "unknown" : address}</dd>
<dt>User agent</dt><dd>${userAgent === "" ? "none" : userAgent}</dd>
</dl>
<form method="post" action="${ctx.oidc.urlFor("code_verification")}">
${hiddenField("xsrf", secretOf(ctx))}
${hiddenField("user_code", userCode)}
${hiddenField("confirm", "yes")}
${button("Authorize device")}
${button("This wasn't me", "quiet", { name: "abort", value: "yes" })}
</form>`,
  });
}

function showDeviceSignedIn(ctx: KoaContextWithOIDC, look: Look): void {
  showPage(ctx, look, {
    title: "The device is signed in",
    content: html`<p>You can close this page and continue at the device.</p>
<p class="note">The device is in the list of your sessions, where you can end its session at any time.</p>`,
  });
}

function showSignOutConfirmation(ctx: KoaContextWithOIDC, look: Look): void {
  showPage(ctx, look, {
    title: "Sign out?",
    content: html`<p>This browser will have to sign in again.</p>
<form method="post" action="${ctx.oidc.urlFor("end_session_confirm")}">
${hiddenField("xsrf", secretOf(ctx))}
${hiddenField("logout", "yes")}
${button("Sign out")}
</form>
<p><a href="${look.homeUrl()}">Stay signed in</a></p>`,
  });
}

function showSignedOut(ctx: KoaContextWithOIDC, look: Look): void {
  showPage(ctx, look, {
    title: "You are signed out",
    content: html`<p>All sign-ins from this browser have ended, on every node.</p>
<p><a href="${look.homeUrl()}">To the first page</a></p>`,
  });
}

function showError(
  ctx: KoaContextWithOIDC,
  look: Look,
  { error, error_description: description }: Parameters<ProviderPages["error"]>[1],
): void {
  // When the cookie is missing, or the link was opened too late, only the description says so. The error code is the same as for other bad requests.
  const isLate = /session (?:id cookie )?not found|has expired|mismatch/.test(description ?? "");
  const detail = isLate ? tooLate : (explanations[error] ?? sentenceOf(description ?? error));
  showProblem(ctx, look, { status: ctx.status, error, detail });
}

function showCancelled(ctx: KoaContextWithOIDC, look: Look): void {
  showPage(ctx, look, {
    title: "The device is not signed in",
    content: html`<p>The device got no access. You can close this page.</p>`,
  });
}

function secretOf(ctx: KoaContextWithOIDC): string {
  return String(ctx.oidc.session?.state?.secret ?? "");
}

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
