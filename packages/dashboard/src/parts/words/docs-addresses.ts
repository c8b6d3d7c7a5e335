/** The places in the documentation to which pages link. A test compares each with the served pages. */
export const docsAddresses = {
  index: "/docs",
  definitions: "/docs/definitions",
  api: "/docs/api",
  workers: "/docs/client#workers",
} as const;

export type DocsAddress = (typeof docsAddresses)[keyof typeof docsAddresses];
