import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Makes the directory if it is missing, and runs `work`. Throws `DataDirectoryError` when the file system refuses an operation. */
export function inDataDirectory<Result>(directory: string, work: () => Result): Result {
  try {
    makeDirectory(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return work();
  } catch (error) {
    throw error instanceof Error && "syscall" in error
      ? new DataDirectoryError(directory, reasonOf(error), error)
      : error;
  }
}

/**
 * Makes the directory and its missing parents, one after the other. With the option `recursive`, Node.js would retry forever when the system answers
 * ENOENT below an existing directory, as it does in /proc.
 */
function makeDirectory(directory: string): void {
  if (existsSync(directory) && statSync(directory).isDirectory()) return;
  if (!existsSync(dirname(directory))) makeDirectory(dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}

/** Thrown when the data directory cannot be used. The message names the setting and the reason. For the usual reasons, it also says what to do. */
export class DataDirectoryError extends Error {
  constructor(directory: string, reason: string, cause?: unknown) {
    super(`STEPWELL_DATA_DIR names ${directory}, ${reason}`, { cause });
    this.name = "DataDirectoryError";
  }
}

function reasonOf(error: Error & { readonly code?: unknown; readonly path?: unknown }): string {
  const place = typeof error.path === "string" ? error.path : "it";
  switch (error.code) {
    case "EEXIST":
    case "ENOTDIR":
      return "but a file is in the way. Name another directory, or move that file away.";
    case "EACCES":
    case "EPERM":
      return `but the user that runs this process may not read and write ${place}. Give it to that user, or name another directory.`;
    case "EROFS":
      return "which is on a read-only file system. Name another directory.";
    case "ENOSPC":
    case "EDQUOT":
      return "but no space is left there. Make room, or name a directory on another disk.";
    default:
      return `which cannot be used: ${error.message}.`;
  }
}
