/**
 * Loads the OpenID provider's library without its warning "Unsupported runtime". The library prints it under every release of Node.js that has no
 * long-term support yet. A release with an even number gets that support only half a year after it came out, and the tests run on it before that.
 */
export async function loadProvider(): Promise<typeof import("oidc-provider")> {
  // biome-ignore-start lint/suspicious/noConsole: the library writes to it, and it is put back at once
  const { warn } = console;
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).includes("Unsupported runtime")) warn(...words);
  };
  try {
    return await import("oidc-provider");
  } finally {
    console.warn = warn;
  }
  // biome-ignore-end lint/suspicious/noConsole: as above
}
