import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Registers something that this run made and must not leave behind, such as a process or a temporary directory. It is released when this process
 * ends, even after an error or a signal, so `release` must be synchronous. Returns a function for callers that can release it earlier.
 */
export function own(release: () => void): () => void {
  watchForTheEnd();
  const releaseOnce = () => {
    if (releases.delete(releaseOnce)) release();
  };
  releases.add(releaseOnce);
  return releaseOnce;
}

/** Creates a directory in the system's temporary directory. The new directory is deleted at the end of this run. */
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
    // What was registered last is released first, so that a directory is deleted after the process that writes into it has ended.
    for (const release of [...releases].reverse()) release();
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
}
