import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Makes the data directory unless it is there. Throws what is wrong and what to do where nothing can be written into it. */
export function makeDataDirectory(directory: string): void {
  try {
    makeDirectory(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `The data directory ${directory} cannot be used (${reason}). Name a directory that this user may write to in STEPWELL_DATA_DIR.`,
      { cause },
    );
  }
}

/** Not with `recursive`: Node.js then tries for ever where the system answers ENOENT below a directory that exists, as in /proc. */
function makeDirectory(directory: string): void {
  if (existsSync(directory) && statSync(directory).isDirectory()) return;
  if (!existsSync(dirname(directory))) makeDirectory(dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}
