/** What the document shows of one operation: the body of a request, and that of an answer when it succeeds. */
export interface Example {
  readonly request?: unknown;
  readonly answer?: unknown;
}
