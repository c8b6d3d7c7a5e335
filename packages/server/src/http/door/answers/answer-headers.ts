import type { Config } from "../../../config.ts";

/**
 * The headers of every answer, whether an operation, the sign-in or the HTTP server itself writes it. An answer that may be cached replaces
 * `cache-control`.
 */
export function answerHeaders({ baseUrl }: Pick<Config, "baseUrl">): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    // Only the configured public address proves that clients use https: a header of the request could be forged.
    ...(baseUrl?.protocol === "https:" && { "strict-transport-security": "max-age=31536000" }),
  };
}
