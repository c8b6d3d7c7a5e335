import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { DurableFileSystem } from "./durable-file-system.ts";

/** The entry of the child process that creates an embedded cluster: `node embedded-create.js DIRECTORY`. */
const directory = process.argv[2];
if (directory === undefined) throw new Error("Which directory?");

// Made beside its place and renamed when it is whole: a process that is killed here leaves nothing that looks like a store.
const unfinished = `${directory}.unfinished`;
rmSync(unfinished, { recursive: true, force: true });
const pglite = await PGlite.create({
  fs: new DurableFileSystem(unfinished, {
    onSyncFailed: (error) => {
      throw error;
    },
  }),
});
await pglite.exec("CHECKPOINT");
await pglite.close();
for (const name of readdirSync(unfinished, { recursive: true, encoding: "utf8" })) sync(join(unfinished, name));
renameSync(unfinished, directory);
sync(dirname(directory));

/** Also for directories: a file's name is on the disk only once its directory is. */
function sync(path: string): void {
  const descriptor = openSync(path, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
