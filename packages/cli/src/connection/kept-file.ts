import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { devNull, homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { CommandError } from "../exit-code.ts";

/** Returns the path of a file that the command line keeps for later commands of this user. */
export function keptPath(name: string): string {
  const { XDG_CONFIG_HOME: configHome } = process.env;
  return join(configHome || join(homeDirectory(), ".config"), "stepwell", name);
}

/**
 * The home directory of this user. An empty HOME counts as not set: otherwise tokens would be written into the working directory. A user
 * without an account on this machine has no home directory. The path of the null device is then returned, so that nothing can be kept.
 */
function homeDirectory(): string {
  try {
    return homedir() || userInfo().homedir;
  } catch {
    return devNull;
  }
}

/** Returns the text of a kept file; undefined when there is none. Throws an error that says what to do when this user may not read the file. */
export function readKept(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = codeOf(error);
    // A file where a directory is expected, such as /dev/null as the home directory, also means that nothing was kept.
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES" || code === "EPERM")
      throw new CommandError("failed", `You may not read ${path}. ${elsewhere}`);
    throw error;
  }
}

/** Makes the directory of a kept file and writes there. Throws an error that says what to do when the place cannot be written. */
export function keep<Result>(path: string, write: () => Result): Result {
  try {
    makeDirectory(dirname(path));
    return write();
  } catch (error) {
    if (!unwritable.has(codeOf(error))) throw error;
    throw new CommandError("failed", `${path} cannot be written (${codeOf(error)}). ${elsewhere}`, { cause: error });
  }
}

/** Changes a kept file while no other command can change it. `change` is synchronous, so a command holds the lock only for a moment. */
export async function aloneWith<Result>(path: string, change: () => Result): Promise<Result> {
  const lock = `${path}.lock`;
  while (!keep(path, () => takes(lock))) await new Promise((done) => setTimeout(done, 20));
  try {
    return change();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** A lock that is older than this belongs to a command that has died, because a command holds the lock only for a few milliseconds. */
const maxLockMs = 10_000;

function takes(lock: string): boolean {
  try {
    writeFileSync(lock, "", { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    const ageMs = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    // If the clock was set back, the time of a lock can lie in the future.
    if (Math.abs(ageMs) > maxLockMs) rmSync(lock, { force: true });
    return false;
  }
}

/**
 * Makes a directory and its parents. `mkdirSync` with `recursive` is not used: it never returns when an existing directory, such as one of /proc,
 * answers ENOENT to each attempt to make a directory in it.
 */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeDirectory(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // EEXIST means that another command has made the directory meanwhile.
    if (codeOf(error) !== "EEXIST") throw error;
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
