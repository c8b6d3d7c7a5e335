import type { FastifyReply } from "fastify";
import { html, type Markup } from "./html.ts";
import { style, styleHash } from "./style.ts";

/** A page of the service itself: plain HTML that works without JavaScript and loads nothing. */
export interface Page {
  readonly status?: number;
  readonly title: string;
  readonly content: Markup;
  /** The address to which the browser continues by itself. */
  readonly goesTo?: string;
  /** The origins, besides the page's own, to which its forms may lead. Some browsers also apply this list to the redirects that follow a form. */
  readonly formTargets?: readonly string[];
}

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply
    .code(page.status ?? 200)
    .headers(pageHeaders(page))
    .send(renderPage(page));
}

export function renderPage({ title, content, goesTo }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${goesTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${goesTo}">`}
<title>${title} · Stepwell</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="brand">Stepwell</p>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;
}

export function pageHeaders({ formTargets = [] }: Pick<Page, "formTargets">): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": [
      "default-src 'none'",
      `style-src '${styleHash}'`,
      `form-action ${["'self'", ...formTargets].join(" ")}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join("; "),
    // The value is not `no-referrer`, because browsers would then hide the origin of a form from the service, which checks it.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
  };
}
