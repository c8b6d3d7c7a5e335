import { html, Markup } from "../../packages/server/src/http/pages/html.ts";
import type { Answer, ApiDocument, Content, Operation, Parameter } from "./document.ts";
import type { Entry } from "./frame.ts";
import { type Passage, renderLine } from "./markdown.ts";
import { nameOf, schemaAnchor, schemaOf, typeOf } from "./schema-list.ts";

interface Reference {
  readonly content: Markup;
  readonly contents: readonly Entry[];
  readonly passages: readonly Passage[];
}

interface Found {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly answers: readonly (readonly [status: string, answer: Answer])[];
}

/** Renders the document that `GET /openapi.json` returns: each operation below its tag, then the headers of answers, then the named schemas. */
export function renderReference(document: ApiDocument): Reference {
  const { info, components } = document;
  const groups = groupsOf(document);
  const schemas = Object.entries(components.schemas).sort(([one], [other]) => (one < other ? -1 : 1));
  const content = html`<h1>API reference</h1>
<p>${renderLine(info.description)} Programs read the same from <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). Another page describes <a href="/docs/http-api">what all operations have in common</a>.</p>
${groups.map(
  ({ name, description, found }) => html`<h2 id="${groupAnchor(name)}">${titleOf(name)}</h2>
<p>${renderLine(description)}</p>
${found.map(operationSection)}`,
)}
<h2 id="headers">Headers of answers</h2>
<dl class="headers">${Object.entries(components.headers).map(
    ([name, { description }]) =>
      html`<dt id="${headerAnchor(name)}"><code>${name}</code></dt><dd>${renderLine(description)}</dd>`,
  )}</dl>
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => html`<h3 id="${schemaAnchor(name)}">${name}</h3>\n${schemaOf(schema)}\n`)}`;
  const contents = [
    ...groups.map(({ name, found }) => ({
      id: groupAnchor(name),
      text: titleOf(name),
      below: found.map(({ operation: { operationId } }) => ({ id: operationId, text: operationId, below: [] })),
    })),
    { id: "headers", text: "Headers of answers", below: [] },
    { id: "schemas", text: "Schemas", below: [] },
  ];
  const passages = [
    ...groups.flatMap(({ found }) => found.map(passageOf)),
    ...schemas.map(([name, { properties = {} }]) => ({
      id: schemaAnchor(name),
      heading: name,
      text: `Schema: ${Object.keys(properties).join(", ")}`,
    })),
  ];
  return { content, contents, passages };
}

/** Groups the operations by tag, in the order in which the document lists the tags. */
function groupsOf({ tags, paths, components }: ApiDocument): { name: string; description: string; found: Found[] }[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const answers = Object.entries(operation.responses).map(
        ([status, answer]) => [status, "$ref" in answer ? sharedAnswer(components, answer.$ref) : answer] as const,
      );
      return { method: method.toUpperCase(), path, operation, answers };
    }),
  );
  const names = new Set(tags.map(({ name }) => name));
  const lost = all.find(({ operation }) => !names.has(operation.tags[0] ?? ""));
  if (lost !== undefined) throw new Error(`The tag of ${lost.operation.operationId} is not described in the document.`);
  return tags.map((tag) => ({ ...tag, found: all.filter(({ operation }) => operation.tags[0] === tag.name) }));
}

function sharedAnswer({ responses }: ApiDocument["components"], reference: string): Answer {
  const answer = responses[nameOf(reference)];
  if (answer === undefined) throw new Error(`The document does not have ${reference}.`);
  return answer;
}

function headerAnchor(name: string): string {
  return `header-${name.toLowerCase()}`;
}

/** Ids of operations begin with a capital letter, so they differ from all anchors of groups. */
function groupAnchor(tag: string): string {
  return `tag-${tag}`;
}

function titleOf(tag: string): string {
  const words = tag.replaceAll("-", " ").replace(/\b(api|oauth)\b/g, (word) => (word === "api" ? "API" : "OAuth"));
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function operationSection({ method, path, operation, answers }: Found): Markup {
  const { operationId, summary, description, requestBody } = operation;
  const id = operationId;
  return html`<section class="operation" aria-labelledby="${id}">
<h3 id="${id}">${id} <a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a></h3>
<p class="endpoint"><code><span class="method">${method}</span> ${breakable(path)}</code></p>
${summary !== undefined && html`<p><strong>${renderLine(summary)}.</strong> ${renderLine(description ?? "")}</p>`}
${facts(method, operation)}
${parameterTable(operation)}
${requestBody !== undefined && html`<h4>Body</h4>${requestBody.required === false && html`<p>It may be left out.</p>`}${contentOf(requestBody.content)}`}
${successes(answers)}
${errors(answers)}
</section>
`;
}

/** Lets a long path break after each slash on a narrow screen. */
function breakable(path: string): Markup {
  return new Markup(html`${path}`.text.replaceAll("/", "/<wbr>"));
}

function facts(method: string, operation: Operation): Markup {
  const permission = operation["x-permission"];
  const cost = operation["x-cost"];
  const takes = (name: string) => (hasHeader(operation, name) ? "taken" : "not taken");
  return html`<dl class="facts">
<div><dt>Permission</dt><dd>${permissionWords[permission] ?? html`<code>${permission}</code>`}</dd></div>
${cost !== undefined && html`<div><dt>Cost</dt><dd>${cost}</dd></div>`}
${method !== "GET" && html`<div><dt>Idempotency-Key</dt><dd>${takes("Idempotency-Key")}</dd></div><div><dt>If-Match</dt><dd>${takes("If-Match")}</dd></div>`}
</dl>`;
}

const permissionWords: Readonly<Record<string, string>> = {
  none: "none, and no credential",
  any: "none: every caller with a credential",
};

function hasHeader({ parameters = [] }: Operation, name: string): boolean {
  return parameters.some((parameter) => parameter.in === "header" && parameter.name === name);
}

function parameterTable({ parameters = [] }: Operation): Markup | undefined {
  if (parameters.length === 0) return undefined;
  const inOrder = (["path", "query", "header"] as const).flatMap((place) =>
    parameters.filter((parameter) => parameter.in === place),
  );
  return html`<h4>Parameters</h4>
<div class="scroll" tabindex="0"><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>${inOrder.map(parameterRow)}</tbody></table></div>`;
}

function parameterRow({ name, in: place, required, schema, description = "" }: Parameter): Markup {
  const isMarked = required === true && place !== "path";
  return html`<tr><td><code>${name}</code>${isMarked && html` <span class="required">required</span>`}</td><td>${place}</td><td>${typeOf(schema)}</td><td>${renderLine(description)}</td></tr>`;
}

function contentOf(content: Content): Markup[] {
  return Object.entries(content).map(
    ([type, { schema, example }]) =>
      html`${type !== "application/json" && html`<p><code>${type}</code></p>`}${schemaOf({ ...schema, description: "" })}${example !== undefined && exampleOf(example)}`,
  );
}

function exampleOf(example: unknown): Markup {
  const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return html`<details><summary>Example</summary><pre tabindex="0"><code>${text}</code></pre></details>`;
}

function successes(answers: Found["answers"]): Markup {
  const found = answers.filter(([status]) => Number(status) < 400);
  return html`<h4>Answers</h4>
${found.map(
  ([status, { description, content, headers }]) =>
    html`<div class="answer"><p><strong>${status}</strong> ${renderLine(description)}</p>${content && contentOf(content)}${headers && headerLine(Object.keys(headers))}</div>`,
)}`;
}

function headerLine(names: readonly string[]): Markup {
  return html`<p class="soft">Headers: ${names.map((name, index) => html`${index > 0 && ", "}<a href="#${headerAnchor(name)}">${name}</a>`)}</p>`;
}

/** All errors have the same form (`Problem`), so only their statuses and descriptions are shown. */
function errors(answers: Found["answers"]): Markup | undefined {
  const found = answers.filter(([status]) => Number(status) >= 400);
  if (found.length === 0) return undefined;
  return html`<h4>Errors</h4>
<ul>${found.map(([status, { description }]) => html`<li><strong>${status}</strong> ${renderLine(description)}</li>`)}</ul>`;
}

function passageOf({ method, path, operation }: Found): Passage {
  const { operationId, summary = "", description = "" } = operation;
  const text = `${method} ${path} — ${summary}. ${description} (${operation["x-permission"]})`;
  return { id: operationId, heading: operationId, text: text.replaceAll("`", "") };
}
