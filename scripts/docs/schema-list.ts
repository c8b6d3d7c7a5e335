import { html, type Markup } from "../../packages/server/src/http/pages/html.ts";
import type { Schema } from "./document.ts";
import { renderLine } from "./markdown.ts";

/** Shows a schema: its type, and below it its fields with their own fields. If a field has a named schema, only a link to its section is shown. */
export function schemaOf(schema: Schema): Markup {
  return html`<p>${typeOf(schema)}${remarks(schema)}</p>${below(schema)}`;
}

export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** The type and its bounds, as shown in a cell of a table. */
export function typeOf(schema: Schema): Markup {
  const { $ref, anyOf, items, type } = schema;
  if ($ref !== undefined) {
    const name = nameOf($ref);
    return html`<a href="#${schemaAnchor(name)}"><code>${name}</code></a>`;
  }
  if (anyOf !== undefined && isShort(anyOf))
    return html`${anyOf.map((one, index) => html`${index > 0 && " or "}${typeOf(one)}`)}`;
  if (anyOf !== undefined) return html`one of`;
  if (items !== undefined) return html`array of ${typeOf(items)}${bounds(schema)}`;
  const name = typeof type === "string" ? type : (type?.join(" or ") ?? "any value");
  return html`${name}${bounds(schema)}`;
}

export function nameOf(reference: string): string {
  return reference.split("/").at(-1) ?? reference;
}

/** Tells whether the alternatives fit into one line, which they do if none has fields of its own or a description. */
function isShort(anyOf: readonly Schema[]): boolean {
  return anyOf.every((one) => below(one) === undefined && one.description === undefined);
}

function bounds(schema: Schema): Markup | undefined {
  const { format, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const words: (string | Markup | undefined)[] = [
    format,
    range(minLength, maxLength, "characters"),
    range(minItems, maxItems, "items"),
    range(minimum, maximum, ""),
    pattern === undefined ? undefined : html`matches <code>${pattern}</code>`,
    "const" in schema ? html`<code>${JSON.stringify(schema.const)}</code>` : undefined,
    schema.enum && html`one of ${codes(schema.enum)}`,
    "default" in schema ? html`default <code>${JSON.stringify(schema.default)}</code>` : undefined,
  ];
  const said = words.filter((word) => word !== undefined);
  if (said.length === 0) return undefined;
  return html` <span class="soft">(${said.map((word, index) => html`${index > 0 && ", "}${word}`)})</span>`;
}

function range(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (least === undefined && most === undefined) return undefined;
  const numbers =
    least === undefined
      ? `at most ${number(most)}`
      : most === undefined
        ? `at least ${number(least)}`
        : least === most
          ? number(least)
          : `${number(least)} to ${number(most)}`;
  return `${numbers} ${unit}`.trim();
}

function number(value: number | undefined): string {
  return (value ?? 0).toLocaleString("en-US");
}

function codes(values: readonly unknown[]): Markup[] {
  return values.map((value, index) => html`${index > 0 && ", "}<code>${JSON.stringify(value)}</code>`);
}

function remarks({ description }: Schema): Markup | undefined {
  return description === undefined || description === "" ? undefined : html` — ${renderLine(description)}`;
}

/** The fields of an object or of the objects in an array, or the alternatives; undefined if there are none. */
function below(schema: Schema): Markup | undefined {
  const { anyOf, items, properties = {}, additionalProperties, required = [] } = schema;
  if (anyOf !== undefined && !isShort(anyOf)) return list(anyOf.map(alternative));
  if (items !== undefined) return below(items);
  const fields = Object.entries(properties).map(([name, one]) => field(name, required.includes(name), one));
  if (typeof additionalProperties === "object") fields.push(anyOtherField(additionalProperties));
  return fields.length === 0 ? undefined : list(fields);
}

function list(lines: readonly Markup[]): Markup {
  return html`<ul class="schema">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function alternative(schema: Schema): Markup {
  return html`${typeOf(schema)}${remarks(schema)}${below(schema)}`;
}

function field(name: string, isRequired: boolean, schema: Schema): Markup {
  return html`<code>${name}</code> ${typeOf(schema)}${isRequired && html` <span class="required">required</span>`}${remarks(schema)}${below(schema)}`;
}

function anyOtherField(schema: Schema): Markup {
  return html`<em>any other name</em> ${typeOf(schema)}${remarks(schema)}${below(schema)}`;
}
