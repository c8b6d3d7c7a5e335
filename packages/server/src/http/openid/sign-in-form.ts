import { alert, button, field, hiddenField } from "../pages/form.ts";
import { html, type Markup } from "../pages/html.ts";

/** An issuer outside, with which people may sign in instead. */
export interface ExternalProvider {
  readonly id: string;
  readonly name: string;
}

export interface SignInForm {
  readonly action: string;
  readonly email?: string | undefined;
  /** Sealed. Given in the second step, which asks for the code. */
  readonly firstStep?: string | undefined;
  readonly problem?: string | undefined;
  /** A device waits, not the browser itself. */
  readonly forDevice: boolean;
  readonly externalProviders: readonly ExternalProvider[];
}

export function signInForm(form: SignInForm): Markup {
  const { action, problem, forDevice, firstStep } = form;
  return html`${alert(problem)}
${forDevice && html`<p>Sign in to let the Stepwell command line act for you.</p>`}
<form method="post" action="${action}">
${firstStep === undefined ? passwordFields(form) : codeFields(form.email, firstStep)}
${button(firstStep === undefined ? "Sign in" : "Continue")}
</form>
${firstStep === undefined && form.externalProviders.map((provider) => externalForm(action, provider))}
<form method="post" action="${action}">
${hiddenField("cancel", "yes")}
${button("Cancel", "quiet")}
</form>`;
}

function passwordFields({ email }: SignInForm): Markup {
  const isKnown = email !== undefined && email !== "";
  return html`${field({
    name: "email",
    label: "E-mail",
    type: "email",
    autocomplete: "username",
    isFirst: !isKnown,
    ...(isKnown && { value: email }),
  })}
${field({
  name: "password",
  label: "Password",
  type: "password",
  autocomplete: "current-password",
  isFirst: isKnown,
})}`;
}

function codeFields(email: string | undefined, firstStep: string): Markup {
  return html`<p>Signing in as <strong>${email}</strong>.</p>
${hiddenField("firstStep", firstStep)}
${field({
  name: "code",
  label: "Code",
  type: "text",
  autocomplete: "one-time-code",
  hint: "Six digits from your authenticator app, or one of your recovery codes.",
  maxLength: 64,
  isFirst: true,
})}`;
}

function externalForm(action: string, { id, name }: ExternalProvider): Markup {
  return html`<form method="post" action="${action}/with/${id}">
${button(`Continue with ${name}`, "quiet")}
</form>`;
}
