import { addNote, createNotes, said } from "@stepwell/testing/notes.ts";
import { openEmbedded } from "../../../src/store/home/embedded.ts";

/**
 * A program that a test starts and kills. It opens an embedded store, and writes what the test sends. The exit code is 7 when the disk does not sync,
 * and 8 when the store panics. After "switch the log" the next change needs a new log file.
 */
const [, , dataDir = ""] = process.argv;
const onSyncFailed = () => process.exit(7);
const database = await openEmbedded({
  dataDir,
  bufferMb: 16,
  timeoutMs: 5_000,
  readTimeoutMs: 5_000,
  onFull: () => {},
  onPanic: () => process.exit(8),
  onSyncFailed,
});
await createNotes(database);
process.send?.({ isOpen: true });
process.on("message", async (content: string) => {
  if (content === "switch the log") await database.query(said("SELECT pg_switch_wal()"), []);
  await database.transaction((transaction) => addNote(transaction, content));
  process.send?.(content);
});
process.once("disconnect", () => process.exit());
