import { html, type Markup } from "./html.ts";

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: "text" | "email" | "password";
  readonly autocomplete: string;
  readonly value?: string;
  readonly hint?: string;
  readonly inputMode?: "numeric" | "text";
  readonly maxLength?: number;
  /** True for the field that gets the focus first. */
  readonly isFirst?: boolean;
  readonly isOptional?: boolean;
}

export function field({ name, label, type, autocomplete, value, hint, inputMode, ...more }: Field): Markup {
  const hintId = `${name}-hint`;
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" spellcheck="false" autocapitalize="none"
${value !== undefined && html` value="${value}"`}${inputMode !== undefined && html` inputmode="${inputMode}"`}
${more.maxLength !== undefined && html` maxlength="${more.maxLength}"`}${hint !== undefined && html` aria-describedby="${hintId}"`}
${more.isOptional !== true && html` required`}${more.isFirst === true && html` autofocus`}>
${hint !== undefined && html`<p class="hint" id="${hintId}">${hint}</p>`}
</div>`;
}

export function hiddenField(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** An error message. Screen readers read it out at once. */
export function alert(message: string | Markup | undefined): Markup | undefined {
  return message === undefined ? undefined : html`<p class="alert" role="alert">${message}</p>`;
}

export function button(
  label: string,
  kind: "main" | "quiet" = "main",
  value?: { name: string; value: string },
): Markup {
  return html`<button type="submit" class="${kind}"${
    value !== undefined && html` name="${value.name}" value="${value.value}"`
  }>${label}</button>`;
}

export function linkButton(label: string, address: string): Markup {
  return html`<p><a class="button" href="${address}">${label}</a></p>`;
}
