import pg from "pg";
import type { Upkeep } from "./database.ts";
import type { Lane } from "./lanes.ts";

export function upkeepBy(lane: Lane): Upkeep {
  return {
    async vacuum(table) {
      await lane.run(() => lane.pool.query(`VACUUM (ANALYZE) ${pg.escapeIdentifier(table)}`));
    },
    async freezeOldest(transactions) {
      await lane.run(async () => {
        const { rows } = await lane.pool.query<{ name: string }>(findOldestTable, [transactions]);
        for (const { name } of rows) await lane.pool.query(`VACUUM (FREEZE) ${name}`);
      });
    },
    async checkpointAbove(bytes) {
      await lane.run(async () => {
        const { rows } = await lane.pool.query<{ bytes: string }>(measureLog);
        if (Number(rows[0]?.bytes) > bytes) await lane.pool.query("CHECKPOINT");
      });
    },
  };
}

/** `regclass::text` quotes the name where necessary. */
const findOldestTable = `SELECT oid::regclass::text AS name FROM pg_class
  WHERE relkind IN ('r', 'm', 't') AND age(relfrozenxid) > $1
  ORDER BY age(relfrozenxid) DESC LIMIT 1`;

const measureLog = "SELECT pg_current_wal_lsn() - redo_lsn AS bytes FROM pg_control_checkpoint()";
