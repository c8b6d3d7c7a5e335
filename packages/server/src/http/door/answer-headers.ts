import type { Config } from "../../config.ts";

/** Headers of every answer, whoever writes it: an operation, the sign-in, or the HTTP server itself for what is no request. */
export function answerHeaders({ baseUrl }: Pick<Config, "baseUrl">): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    // The public address alone says that clients come by https: a header of the request could be anybody's.
    ...(baseUrl?.protocol === "https:" && { "strict-transport-security": "max-age=31536000" }),
  };
}
