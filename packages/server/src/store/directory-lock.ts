import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeDataDirectory } from "./data-directory.ts";

/**
 * Keeps a second process off a data directory for as long as this one lives. Answers the release.
 *
 * The lock is the operating system's: SQLite, which Node brings, takes one on `lock` and the kernel drops it when the process
 * ends, however it ends. A file with a process id (the usual way) must guess whether its writer still lives, and guesses wrong when
 * ids are reused or two containers share a directory; a lock that expires by time would delay every restart after a crash.
 */
export function lockDirectory(directory: string): () => void {
  makeDataDirectory(directory);
  const lock = new DatabaseSync(join(directory, "lock"));
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
  } catch (cause) {
    lock.close();
    throw new DirectoryLockedError(directory, cause);
  }
  return () => lock.close();
}

export class DirectoryLockedError extends Error {
  constructor(directory: string, cause: unknown) {
    super(
      `Another Stepwell process holds the data directory ${directory}. Stop it, or give this one a directory of its own (STEPWELL_DATA_DIR).`,
      { cause },
    );
    this.name = "DirectoryLockedError";
  }
}
