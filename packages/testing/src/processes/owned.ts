import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Registers something that this run made and must not leave behind, such as a process or a temporary directory. It is released at
 * the end of this process, also after an error or a signal, so `release` must be synchronous. Returns the release, for callers that
 * can release earlier.
 */
export function own(release: () => void): () => void {
  watchForTheEnd();
  const releaseOnce = () => {
    if (releases.delete(releaseOnce)) release();
  };
  releases.add(releaseOnce);
  return releaseOnce;
}

/** A directory under the system's temporary one, deleted with this run. */
export function ownTemporaryDirectory(name: string): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `stepwell-${name}-`));
  return { path, remove: own(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 })) };
}

const releases = new Set<() => void>();
let isWatching = false;

function watchForTheEnd(): void {
  if (isWatching) return;
  isWatching = true;
  process.on("exit", () => {
    // Youngest first: a directory goes after the process that writes into it.
    for (const release of [...releases].reverse()) release();
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
}
