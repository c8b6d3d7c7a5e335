/**
 * Loads the library of the OpenID provider. It writes a warning to the console under every Node.js that has no name as a long-term release,
 * which those of an even number get half a year after their first one. The service is tested on them before.
 */
export async function loadProvider(): Promise<typeof import("oidc-provider")> {
  // biome-ignore-start lint/suspicious/noConsole: it is the library's, and put back at once
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
