import { readFileSync } from "node:fs";

/** A change to the source of one module of the server. */
export interface Replacement {
  /** The path of the module, relative to `packages/server/src`. */
  readonly file: string;
  /** The text that is replaced. The module must contain it exactly once. */
  readonly text: string;
  readonly replacement: string;
}

export const serverSources = new URL("../../packages/server/src/", import.meta.url);

/**
 * Makes the replacements. Returns the new source of each changed module, by its URL. Throws if a text does not occur exactly once in its module.
 */
export function replacedSources(replacements: readonly Replacement[]): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const { file, text, replacement } of replacements) {
    const { href } = new URL(file, serverSources);
    const parts = (sources.get(href) ?? readFileSync(new URL(href), "utf8")).split(text);
    if (parts.length !== 2) throw new Error(`${file} has this text ${parts.length - 1} times instead of once: ${text}`);
    sources.set(href, parts.join(replacement));
  }
  return sources;
}
