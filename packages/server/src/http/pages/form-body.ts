import type { App } from "../door/app.ts";

/** All forms of the service are far smaller. */
const maxFormBytes = 16 * 1024;

/** Parses the forms that browsers send. Only pages and the OpenID provider accept forms; the rest of the service accepts only JSON. */
export function parseForms(scope: App): void {
  scope.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: maxFormBytes },
    (_request, body, done) => done(null, new URLSearchParams(body as string)),
  );
}

/** Returns the value of a field: the first one if the field was sent more than once, "" if it was not sent. */
export function fieldIn(body: unknown, name: string): string {
  return body instanceof URLSearchParams ? (body.get(name) ?? "") : "";
}
