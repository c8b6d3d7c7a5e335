import type { App } from "../door/app.ts";

/** All forms of the service are far smaller. */
const maxFormBytes = 16 * 1024;

/** Parses the forms that browsers send. Only pages accept forms; the rest of the service accepts only JSON. */
export function parseForms(scope: App): void {
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: maxFormBytes },
    (_request, body, done) => done(null, new URLSearchParams(body as string)),
  );
}

/** Returns the first value of a field that was sent twice; "" for a field that was not sent. */
export function fieldIn(body: unknown, name: string): string {
  return body instanceof URLSearchParams ? (body.get(name) ?? "") : "";
}
