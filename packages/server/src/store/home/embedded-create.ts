import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { DurableFileSystem, describeFileError } from "./durable-file-system.ts";

/** The program of the child process that creates an embedded cluster: `node embedded-create.js DIRECTORY PARENT`. */
const [, , directory, parent] = process.argv;
if (directory === undefined || parent === undefined)
  throw new Error("The arguments are the directory and the id of the parent process.");

// The parent process reports the error in one sentence, so a stack trace of this process would not help.
process.once("uncaughtException", (error: unknown) => {
  process.stderr.write(describeFileError(error));
  process.exit(1);
});

// The cluster is made next to its final place and renamed when it is complete. So when this process is killed, it leaves nothing that looks like a
// store. The name is unique, because an earlier process whose parent was killed may still be at work.
const unfinished = `${directory}.unfinished-${process.pid}`;
for (const name of readdirSync(dirname(directory))) {
  if (!name.startsWith(`${basename(directory)}.unfinished`)) continue;
  rmSync(join(dirname(directory), name), { recursive: true, force: true, maxRetries: 10 });
}
mkdirSync(unfinished, { mode: 0o700 });
const pglite = await PGlite.create({
  ...emptyCluster(),
  fs: new DurableFileSystem(unfinished, {
    onSyncFailed: (error) => {
      throw error;
    },
  }),
});
await pglite.exec("CHECKPOINT");
await pglite.close();
for (const name of readdirSync(unfinished, { recursive: true, encoding: "utf8" })) sync(join(unfinished, name));
sync(unfinished);
// The parent process has locked the directory. When the parent is gone, another process may use the directory.
if (process.ppid !== Number(parent)) process.exit(1);
renameSync(unfinished, directory);
sync(dirname(directory));

/**
 * Loads the empty cluster that the build made. Unpacking it takes a quarter of the time that PGlite needs to initialize a cluster. When the program
 * runs from its sources, there is no such cluster.
 */
function emptyCluster(): { readonly loadDataDir?: Blob } {
  const file = new URL("./empty-cluster.tar.gz", import.meta.url);
  return existsSync(file) ? { loadDataDir: new Blob([readFileSync(file)], { type: "application/x-gzip" }) } : {};
}

/** Syncs a file or a directory. A file's name is on the disk only after its directory was synced. */
function sync(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
