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

/** The entry of the child process that creates an embedded cluster: `node embedded-create.js DIRECTORY PARENT`. */
const [, , directory, parent] = process.argv;
if (directory === undefined || parent === undefined) throw new Error("Which directory, for which process?");

// The parent tells a person in one sentence; a trace of this process would be of no help.
process.once("uncaughtException", (error: unknown) => {
  process.stderr.write(describeFileError(error));
  process.exit(1);
});

// Made beside its place and renamed when it is whole: a process that is killed here leaves nothing that looks like a store. Under a name
// of its own, since one whose parent was killed may still be at work.
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
// The parent holds the directory's lock: when it is gone, the place may be somebody else's by now.
if (process.ppid !== Number(parent)) process.exit(1);
renameSync(unfinished, directory);
sync(dirname(directory));

/** The build makes an empty cluster, which is unpacked in a quarter of the time in which PGlite initializes one. Where the program runs from its sources there is none. */
function emptyCluster(): { readonly loadDataDir?: Blob } {
  const file = new URL("./empty-cluster.tar.gz", import.meta.url);
  return existsSync(file) ? { loadDataDir: new Blob([readFileSync(file)], { type: "application/x-gzip" }) } : {};
}

/** Also for directories: a file's name is on the disk only once its directory is. */
function sync(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
