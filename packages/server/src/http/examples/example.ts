/** The example of one operation in the document: the body of a request, and the body of the answer on success. */
export interface Example {
  readonly request?: unknown;
  readonly answer?: unknown;
}
