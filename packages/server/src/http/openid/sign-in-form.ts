import type { ExternalProvider } from "../../auth/external/provider.ts";
import { alert, button, field, hiddenField, linkButton } from "../pages/form.ts";
import { html, type Markup } from "../pages/html.ts";

/** An external issuer with which people may sign in, instead of with a password. */
type OfferedProvider = Pick<ExternalProvider, "id" | "name">;

export interface SignInForm {
  readonly action: string;
  readonly email?: string | undefined;
  /** The sealed first step. It is given in the second step, which asks for the code. */
  readonly firstStep?: string | undefined;
  readonly problem?: string | undefined;
  /** True when a device waits for the sign-in, and not the browser itself. */
  readonly forDevice: boolean;
  /** False while it is not known whether the person has to sign in at a provider. The page then asks only for the e-mail address. */
  readonly asksPassword: boolean;
  readonly externalProviders: readonly OfferedProvider[];
}

export function signInForm(form: SignInForm): Markup {
  const { action, problem, forDevice, firstStep } = form;
  return html`${alert(problem)}
${forDevice && html`<p>Sign in to let the Stepwell command line act for you.</p>`}
<form method="post" action="${action}">
${firstStep === undefined ? passwordFields(form) : codeFields(form.email, firstStep)}
${button(firstStep === undefined && form.asksPassword ? "Sign in" : "Continue")}
</form>
${firstStep === undefined && form.externalProviders.map((provider) => wayOut(action, provider))}
<form method="post" action="${action}">
${hiddenField("cancel", "yes")}
${button("Cancel", "quiet")}
</form>`;
}

function passwordFields({ email, asksPassword }: SignInForm): Markup {
  const isKnown = email !== undefined && email !== "";
  return html`${field({
    name: "email",
    label: "E-mail",
    type: "email",
    autocomplete: "username",
    isFirst: !isKnown || !asksPassword,
    ...(isKnown && { value: email }),
  })}
${
  asksPassword &&
  field({
    name: "password",
    label: "Password",
    type: "password",
    autocomplete: "current-password",
    isFirst: isKnown,
  })
}`;
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

/** The way to the issuer is a link and not a form, because the page's policy allows forms to lead only to this service and its clients. */
export function wayOut(action: string, { id, name }: OfferedProvider, email?: string): Markup {
  const hint = email === undefined ? "" : `?${new URLSearchParams({ login_hint: email })}`;
  return linkButton(`Continue with ${name}`, `${action}/with/${id}${hint}`);
}
