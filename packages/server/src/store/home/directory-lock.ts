import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DataDirectoryError, inDataDirectory } from "./data-directory.ts";

/**
 * Locks a data directory against other processes until this one ends. Returns the function that releases the lock.
 *
 * The lock belongs to the operating system: SQLite, which is part of Node.js, locks the file `lock`, and the kernel releases the lock when the
 * process ends, however it ends. The usual alternative, a file with a process id, must guess whether the process that wrote it still runs. It guesses
 * wrong when ids are reused or two containers share a directory. A lock that expires after a time would delay every restart after a crash.
 */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, "lock");
  let lock: DatabaseSync | undefined;
  try {
    lock = inDataDirectory(directory, () => new DatabaseSync(file));
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
  } catch (error) {
    lock?.close();
    throw explain(directory, file, error);
  }
  return () => lock.close();
}

function explain(directory: string, file: string, error: unknown): unknown {
  if (!(error instanceof Error && "errcode" in error)) return error;
  if (error.errcode === busy) return new DirectoryLockedError(directory, error);
  const reason = `but its lock, the file ${file}, cannot be taken (${error.message}). Delete that file if no Stepwell process uses the directory. A network file system may not support locks.`;
  return new DataDirectoryError(directory, reason, error);
}

/** SQLite's SQLITE_BUSY. */
const busy = 5;

export class DirectoryLockedError extends Error {
  constructor(directory: string, cause: unknown) {
    super(
      `Another Stepwell process holds the data directory ${directory}. Stop that process, or give this one a directory of its own with STEPWELL_DATA_DIR.`,
      { cause },
    );
    this.name = "DirectoryLockedError";
  }
}
