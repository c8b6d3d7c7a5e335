/** The example of one operation in the document: the body of a request, and the body of its answer when it succeeds. */
export interface Example {
  readonly request?: unknown;
  readonly answer?: unknown;
}
