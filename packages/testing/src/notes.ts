import type { Database, Queryable, Statement } from "../../server/src/store/home/database.ts";

/** Creates a table that only tests use. It is for tests of behaviour that is the same for every table. */
export async function createNotes(database: Database): Promise<void> {
  await database.query(said("CREATE TABLE IF NOT EXISTS note (content text NOT NULL)"), []);
}

export async function addNote(target: Queryable, content: string): Promise<void> {
  await target.query(said("INSERT INTO note (content) VALUES ($1)"), [content]);
}

export async function readNotes(target: Queryable): Promise<string[]> {
  const rows = await target.query(said<{ content: string }>("SELECT content FROM note ORDER BY content"), []);
  return rows.map((row) => row.content);
}

/** A statement that is not among those of the service. */
export function said<Row>(text: string): Statement<Row> {
  return { name: `test ${text}`.slice(0, 63), scope: "global", text, planned: "each-time" };
}
