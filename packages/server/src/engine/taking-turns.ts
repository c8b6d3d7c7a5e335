import type { Queryable } from "../store/home/database.ts";

/** The same store with at most `count` statements at once, so that readers of much leave connections to everybody else. The others wait in line. */
export function takingTurns(db: Queryable, count: number): Queryable {
  const line: (() => void)[] = [];
  let free = count;
  return {
    async query(statement, values) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => line.push(resolve));
      try {
        return await db.query(statement, values);
      } finally {
        // The embedded store answers without a turn of the event loop: one reader of much would keep every request out until its end.
        await new Promise((resolve) => setImmediate(resolve));
        const next = line.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
