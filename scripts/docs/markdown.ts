import { Marked, type Token } from "marked";
import { html, Markup } from "../../packages/server/src/http/pages/html.ts";
import { textOfHtml } from "./plain-text.ts";

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly level: number;
}

/** The text below one heading, for the search. Text before the first heading belongs to the title of the page. */
export interface Passage {
  readonly id: string | undefined;
  /** The heading, preceded by the headings above it, since some pages have "Errors" more than once. */
  readonly heading: string;
  readonly text: string;
}

export interface Rendered {
  readonly content: Markup;
  /** The headings below the title. */
  readonly headings: readonly Heading[];
  readonly passages: readonly Passage[];
}

/** Returns the address on the site to which a link leads. Undefined if the site has no such page: then only the text of the link stays. */
export type AddressOf = (href: string) => string | undefined;

export function renderMarkdown(source: string, addressOf: AddressOf): Rendered {
  const headings: Heading[] = [];
  const marked = markedWith(addressOf, headings);
  const passages: { id: string | undefined; heading: string; html: string }[] = [];
  let above: Heading[] = [];
  const parts = marked.lexer(source).map((token) => {
    const count = headings.length;
    const part = marked.parser([token]);
    const heading = headings.length > count ? headings.at(-1) : undefined;
    if (isTitle(token)) passages.push({ id: undefined, heading: textOfHtml(part), html: "" });
    else if (heading !== undefined) {
      above = [...above.filter(({ level }) => level < heading.level), heading];
      passages.push({ id: heading.id, heading: above.map(({ text }) => text).join(" › "), html: "" });
    } else {
      const passage = passages.at(-1);
      if (passage !== undefined) passage.html += ` ${part.replaceAll("</t", " </t").replaceAll("</li", " </li")}`;
    }
    return part;
  });
  return {
    content: new Markup(parts.join("")),
    headings,
    passages: passages.map(({ id, heading, html }) => ({ id, heading, text: textOfHtml(html) })),
  };
}

/** Renders a single line of text, such as a description in the API's document. */
export function renderLine(source: string): Markup {
  return new Markup(markedWith(() => undefined, []).parseInline(source) as string);
}

/** Returns the page as Markdown. A link to a page that the site does not have is replaced by its text. */
export function servedMarkdown(source: string, addressOf: AddressOf): string {
  return source
    .split(/(^```[\s\S]*?^```)/m)
    .map((part) =>
      part.startsWith("```")
        ? part
        : part.replace(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, text, href) =>
            addressOf(href) === undefined ? text : link,
          ),
    )
    .join("");
}

function isTitle(token: Token): boolean {
  return token.type === "heading" && token.depth === 1;
}

function markedWith(addressOf: AddressOf, headings: Heading[]): Marked {
  const marked = new Marked();
  const ids = new Set<string>();
  marked.use({
    renderer: {
      heading(content, level) {
        const text = textOfHtml(content);
        if (level === 1) return `<h1>${content}</h1>\n`;
        const id = idOf(text, ids);
        headings.push({ id, text, level });
        // The table of contents already leads to each heading by keyboard, so the heading's anchor is not a tab stop.
        return `<h${level} id="${id}">${content} <a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a></h${level}>\n`;
      },
      link(href, _title, content) {
        const address = addressOf(href);
        return address === undefined ? content : html`<a href="${address}">${new Markup(content)}</a>`.text;
      },
      image(href, _title, text) {
        const address = addressOf(href);
        if (address === undefined) throw new Error(`The image ${href} is not in docs/images.`);
        return html`<img src="${address}" alt="${text}" loading="lazy">`.text;
      },
      // An element that scrolls must be focusable, since otherwise no key can scroll it.
      code: (text) => html`<pre tabindex="0"><code>${text}</code></pre>\n`.text,
      table: (header, body) =>
        `<div class="scroll" tabindex="0"><table><thead>${header}</thead><tbody>${body}</tbody></table></div>\n`,
      tablecell(content, { header, align }) {
        const name = header ? (content === "" ? "td" : "th") : "td";
        return `<${name}${align === null ? "" : ` class="${align}"`}>${content}</${name}>`;
      },
      html: (text) => (/^\s*<!--/.test(text) ? "" : harmlessHtml(text)),
    },
  });
  return marked;
}

/** Lets through the few HTML elements that pages of Markdown may contain. All others are shown as text. */
function harmlessHtml(text: string): string {
  return html`${text}`.text.replace(/&lt;(\/?(?:br|kbd|sub|sup|details|summary))\s*\/?&gt;/g, "<$1>");
}

/** Makes the same anchors as GitHub, so that a link works in the repository and on the site. */
function idOf(text: string, taken: Set<string>): string {
  const plain = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
  let id = plain;
  for (let count = 1; taken.has(id); count += 1) id = `${plain}-${count}`;
  taken.add(id);
  return id;
}
