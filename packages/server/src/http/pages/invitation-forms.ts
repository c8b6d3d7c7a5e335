import type { ShownInvitation } from "../../management/membership/invitation-acceptance.ts";
import { alert, button, field, hiddenField } from "./form.ts";
import { html, type Markup } from "./html.ts";

/** The text that the visitor typed into the forms before, the problem to show above each form, and the status of the answer. */
export interface InvitationForms {
  readonly email?: string;
  readonly displayName?: string;
  readonly newProblem?: string | Markup;
  readonly knownProblem?: string | Markup;
  readonly status?: number;
}

/**
 * Makes the forms for the two ways to accept: with a new account, or with an existing one. Their visible fields have different
 * names, because the name is also the id.
 */
export function invitationForms(action: string, { invitation, organization }: ShownInvitation, typed: InvitationForms) {
  const fixedEmail = invitation.email;
  const email = fixedEmail ?? typed.email;
  return html`<p>You are invited to <strong>${organization.displayName}</strong> as ${invitation.roles.join(", ")}.</p>
<h2>With a new account</h2>
${alert(typed.newProblem)}
<form method="post" action="${action}">
${hiddenField("account", "new")}
${emailField("newEmail", fixedEmail, email)}
${field({
  name: "displayName",
  label: "Your name",
  type: "text",
  autocomplete: "name",
  ...(typed.displayName !== undefined && { value: typed.displayName }),
})}
${field({
  name: "newPassword",
  label: "Password",
  type: "password",
  autocomplete: "new-password",
  hint: "At least 12 characters, of any kind. A few words in a row are good. If you mistype the password, an owner of the organization can give you a link to set a new one.",
})}
${button("Create an account and join")}
</form>
<h2>With the account that you have</h2>
${alert(typed.knownProblem)}
<form method="post" action="${action}">
${hiddenField("account", "known")}
${emailField("email", fixedEmail, email)}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password" })}
${field({
  name: "code",
  label: "Code",
  type: "text",
  autocomplete: "one-time-code",
  hint: "Only if your account has a second factor: the code of the app, or a recovery code.",
  isOptional: true,
})}
${button("Sign in and join", "quiet")}
</form>`;
}

/** If the invitation names an address, the visitor cannot change this address. A hidden field still holds it, for password managers. */
function emailField(name: string, fixedEmail: string | null, email: string | undefined): Markup {
  if (fixedEmail !== null) {
    return html`<p>For <strong>${fixedEmail}</strong></p>
<input type="text" name="username" value="${fixedEmail}" autocomplete="username" hidden>`;
  }
  return field({
    name,
    label: "E-mail",
    type: "email",
    autocomplete: "username",
    ...(email !== undefined && { value: email }),
  });
}
