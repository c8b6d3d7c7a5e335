import { addNote, createNotes } from "@stepwell/testing/notes.ts";
import { openEmbedded } from "../../src/store/home/embedded.ts";

/** Holds an embedded store and writes into it what its parent says, for a test that kills it. Ends with 7 when the disk does not sync. */
const [, , dataDir = ""] = process.argv;
const onSyncFailed = () => process.exit(7);
const database = await openEmbedded({
  dataDir,
  bufferMb: 16,
  timeoutMs: 5_000,
  readTimeoutMs: 5_000,
  onFull: () => {},
  onSyncFailed,
});
await createNotes(database);
process.send?.({ isOpen: true });
process.on("message", async (content: string) => {
  await database.transaction((transaction) => addNote(transaction, content));
  process.send?.(content);
});
process.once("disconnect", () => process.exit());
