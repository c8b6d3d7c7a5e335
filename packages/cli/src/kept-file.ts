import { mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandError } from "./exit-code.ts";

/** The path of a file that the command line keeps for later commands of this user. */
export function keptPath(name: string): string {
  const { XDG_CONFIG_HOME: configHome } = process.env;
  return join(configHome || join(homedir(), ".config"), "stepwell", name);
}

/** The text of a kept file; undefined when there is none. Throws what to do when this user may not read it. */
export function readKept(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = codeOf(error);
    // A file in the place of a directory, such as /dev/null as the home directory, also means that nothing was kept.
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES" || code === "EPERM")
      throw new CommandError("failed", `You may not read ${path}. ${elsewhere}`);
    throw error;
  }
}

/** Makes the directory of a kept file and writes there. Throws what to do when the place cannot be written. */
export function keep<Result>(path: string, write: () => Result): Result {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return write();
  } catch (error) {
    if (!unwritable.has(codeOf(error))) throw error;
    throw new CommandError("failed", `${path} cannot be written (${codeOf(error)}). ${elsewhere}`, { cause: error });
  }
}

const elsewhere = "Set XDG_CONFIG_HOME to a directory in which you may read and write.";

const unwritable: ReadonlySet<string> = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOENT",
  "ENOTDIR",
  "EEXIST",
  "ENOSPC",
  "EDQUOT",
]);

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
