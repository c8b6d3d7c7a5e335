/** The places of the documentation to which pages lead. A test holds each against the pages that are served. */
export const docsAddresses = {
  index: "/docs",
  definitions: "/docs/definitions",
  api: "/docs/api",
  workers: "/docs/client#workers",
} as const;

export type DocsAddress = (typeof docsAddresses)[keyof typeof docsAddresses];
