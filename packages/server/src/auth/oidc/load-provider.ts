/**
 * Loads the OpenID provider's library without its warning "Unsupported runtime". The library prints it under every Node.js release that is
 * not a long-term one yet, and an even-numbered release becomes one only half a year after it came out; our tests run on it before that.
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
