import type { App } from "../door/app.ts";

/** Far above any form of ours. */
const maxFormBytes = 16 * 1024;

/** What a browser sends for a form, as its fields. Only where pages are: the rest of the service takes JSON and nothing else. */
export function parseForms(scope: App): void {
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: maxFormBytes },
    (_request, body, done) => done(null, new URLSearchParams(body as string)),
  );
}

/** Of a field that was sent twice the first; "" for one that was not sent. */
export function fieldIn(body: unknown, name: string): string {
  return body instanceof URLSearchParams ? (body.get(name) ?? "") : "";
}
