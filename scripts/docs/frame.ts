import { html, type Markup } from "../../packages/server/src/http/pages/html.ts";
import type { Page, Pages } from "./pages.ts";
import { referenceAddress } from "./pages.ts";

/** The built files that every page uses. */
export interface FrameFiles {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  /** The index in which the search looks. */
  readonly index: string;
}

/** A link within the page, in its table of contents. */
export interface Entry {
  readonly id: string;
  readonly text: string;
  readonly below: readonly Entry[];
}

interface Framed {
  readonly title: string;
  readonly description: string;
  readonly address: string;
  readonly content: Markup;
  readonly contents: readonly Entry[];
  /** The address of the page as Markdown. */
  readonly markdown: string | undefined;
}

/**
 * Puts a page into the frame that all pages share. An attribute whose value begins with a slash holds an address of the service. The server adds the
 * prefix of its paths to each such address. On a narrow screen the two navigations are popovers, which work without any script.
 */
export function framed(page: Framed, pages: Pages, files: FrameFiles): string {
  const { title, description, content, contents, markdown } = page;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${description !== "" && html`<meta name="description" content="${description}">`}
<title>${title} · Stepwell</title>
<link rel="icon" href="${files.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${files.style}">
${markdown !== undefined && html`<link rel="alternate" href="${markdown}" type="text/markdown">`}
<script type="module" src="${files.script}"></script>
</head>
<body data-docs="/docs" data-index="${files.index}">
<a class="skip-link" href="#content">Skip to the content</a>
<header class="top-bar">
<a class="brand" href="/docs">${logo}<span class="brand-name">Stepwell</span><span class="brand-docs"> Docs</span></a>
<button class="opens" type="button" popovertarget="pages">Pages</button>
${contents.length > 0 && html`<button class="opens" type="button" popovertarget="contents">On this page</button>`}
<form class="search" role="search" hidden>
<label class="visually-hidden" for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-controls="found" aria-keyshortcuts="/">
<div id="found" class="found" hidden><p role="status"></p><ul></ul></div>
</form>
<a class="to-dashboard" href="/">Dashboard</a>
</header>
<div class="columns">
<nav id="pages" class="pages" popover aria-label="Documentation">${navigation(page.address, pages)}</nav>
<main id="content" tabindex="-1">
${content}
${neighbours(page.address, pages)}
${markdown !== undefined && html`<p class="soft"><a href="${markdown}">This page as Markdown</a></p>`}
</main>
${contents.length > 0 && html`<nav id="contents" class="contents" popover aria-label="On this page">${entryList(contents)}</nav>`}
</div>
</body>
</html>
`.text;
}

const logo = html`<svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><path d="M6 9h20v4h-4v4h-4v4h-4v4h-4v-4h4v-4h4v-4h4v-4H6z"/></svg> `;

function navigation(current: string, pages: Pages): Markup[] {
  return sectionsOf(pages).map(
    ({ title, links }) => html`<p class="section">${title}</p>
<ul>${links.map(({ address, title }) => html`<li><a href="${address}"${address === current && html` aria-current="page"`}>${title}</a></li>`)}</ul>
`,
  );
}

interface PageLink {
  readonly address: string;
  readonly title: string;
}

/** The reference of the API has no file in `docs/`. Its link comes after the page about the HTTP interface. */
function sectionsOf({ sections }: Pages): { title: string; links: PageLink[] }[] {
  return sections.map(({ title, pages }) => ({ title, links: pages.flatMap(withReference) }));
}

function withReference({ file, address, title }: Page): PageLink[] {
  const link = { address, title };
  return file === "api.md" ? [link, { address: referenceAddress, title: "API reference" }] : [link];
}

function neighbours(current: string, pages: Pages): Markup | undefined {
  const links = sectionsOf(pages).flatMap(({ links }) => links);
  const place = links.findIndex(({ address }) => address === current);
  const [previous, next] = [place > 0 ? links[place - 1] : undefined, links[place + 1]];
  if (previous === undefined && next === undefined) return undefined;
  return html`<nav class="neighbours" aria-label="Previous and next page">
${previous && html`<a href="${previous.address}" rel="prev">← ${previous.title}</a>`}
${next && html`<a class="next" href="${next.address}" rel="next">${next.title} →</a>`}
</nav>`;
}

function entryList(entries: readonly Entry[]): Markup {
  return html`<ul>${entries.map(
    ({ id, text, below }) => html`<li><a href="#${id}">${text}</a>${below.length > 0 && entryList(below)}</li>`,
  )}</ul>`;
}
