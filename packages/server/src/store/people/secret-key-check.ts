import { type Queryable, statement } from "../home/database.ts";

/** Finds the value that the service's secret key must open; undefined in a store that has none yet. */
export async function findSecretKeyCheck(db: Queryable): Promise<Buffer | undefined> {
  const [row] = await db.query(findCheck, []);
  return row?.sealed;
}

const findCheck = statement<{ sealed: Buffer }>(
  "find_secret_key_check",
  "global",
  "SELECT sealed FROM secret_key_check",
);

/** Stores the value unless the store has one. Returns the value in the store, which may be another node's if that node was faster. */
export async function insertSecretKeyCheck(db: Queryable, sealed: Buffer): Promise<Buffer> {
  const [row] = await db.query(insertCheck, [sealed]);
  if (row === undefined) throw new Error("The check value of the secret key was not written.");
  return row.sealed;
}

const insertCheck = statement<{ sealed: Buffer }>(
  "insert_secret_key_check",
  "global",
  `INSERT INTO secret_key_check (check_number, sealed) VALUES (1, $1)
   ON CONFLICT (check_number) DO UPDATE SET check_number = excluded.check_number
   RETURNING sealed`,
);

/** Replaces the value. Returns false when another node was faster. */
export async function replaceSecretKeyCheck(db: Queryable, before: Buffer, after: Buffer): Promise<boolean> {
  const rows = await db.query(replaceCheck, [before, after]);
  return rows.length > 0;
}

const replaceCheck = statement<{ checkNumber: number }>(
  "replace_secret_key_check",
  "global",
  `UPDATE secret_key_check SET sealed = $2 WHERE sealed = $1 RETURNING check_number AS "checkNumber"`,
);
