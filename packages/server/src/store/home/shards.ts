import { type Database, type Queryable, sqlState, statement } from "./database.ts";
import { hashOfUuid } from "./uuid-hash.ts";

/** A server with shards in a Citus cluster. */
export interface Worker {
  readonly host: string;
  readonly port: number;
}

/**
 * One shard of one table. All tables with rows of organizations are split by the same ranges of hashes, and the shards of one range are on the same
 * worker.
 */
export interface Shard extends Worker {
  readonly table: string;
  /** The name of the shard's own table on its worker. */
  readonly name: string;
  readonly shardId: string;
  /** The range of the hashes of the organizations in this shard, with both ends included. */
  readonly min: number;
  readonly max: number;
}

/**
 * Knows how a Citus cluster distributes the organizations over its shards, and on which worker each shard is. On a server without Citus it knows no
 * shards, and all organizations are one group.
 */
export class Shards {
  readonly #now: () => number;
  #all: readonly Shard[] = [];
  #ranges: readonly Pick<Shard, "shardId" | "min">[] = [];
  #learnedAt = Number.NEGATIVE_INFINITY;
  #learning: Promise<boolean> | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isSharded(): boolean {
    return this.#all.length > 0;
  }

  /** The shards of these tables, by worker. */
  onWorkers(tables: ReadonlySet<string>): readonly (readonly Shard[])[] {
    const wanted = this.#all.filter(({ table }) => tables.has(table));
    return [...Map.groupBy(wanted, ({ host, port }) => `${host}:${port}`).values()];
  }

  /** The id of the shard that has the organization's own row. Without shards, the same text for all organizations. */
  groupOf(organizationId: string): string {
    return this.isSharded ? shardOf(this.#ranges, hashOfUuid(organizationId)) : "server";
  }

  /**
   * Learns the shards, if there are any. A server is asked once whether it has Citus, when the store is opened. A store that has Citus but is not
   * distributed yet is left as it is.
   */
  async learn(db: Pick<Database, "query" | "transaction">): Promise<void> {
    const [found] = await db.query(findCitus, []);
    if (found?.isThere !== true) return;
    await this.#read(db);
    if (this.isSharded) await makeKnown(db);
  }

  /**
   * Learns the shards again, and returns whether they have changed. Call it when the server refused something that the known shards allow, or when a
   * worker does not answer: shards may have been moved or split. If the server was asked less than ten seconds ago, returns false without asking, so
   * that a defect of ours does not cause a query for each request.
   */
  async relearn(db: Queryable): Promise<boolean> {
    if (this.#learning !== undefined) return await this.#learning;
    if (!this.isSharded || this.#now() - this.#learnedAt < relearnMs) return false;
    this.#learning = this.#read(db).finally(() => {
      this.#learning = undefined;
    });
    return await this.#learning;
  }

  async #read(db: Queryable): Promise<boolean> {
    const before = JSON.stringify(this.#all);
    this.#learnedAt = this.#now();
    this.#all = await db.query(listShards, []);
    this.#ranges = this.#all.filter(({ table }) => table === "organization");
    return JSON.stringify(this.#all) !== before;
  }
}

/**
 * Tells Citus about the tables that belong to no organization, such as those of people and their sessions. When a transaction changes such a table
 * and also a table with rows of organizations, Citus commits the transaction only if it knows both tables. Nodes that start at the same time do
 * so, one after the other.
 */
async function makeKnown(db: Pick<Database, "query" | "transaction">): Promise<void> {
  if ((await db.query(findUnknownTable, [])).length === 0) return;
  await db.transaction(async (transaction) => {
    await transaction.query(holdLedger, []);
    for (;;) {
      const [unknown] = await transaction.query(findUnknownTable, []);
      if (unknown === undefined) return;
      await transaction.query(addLocalTable, [unknown.table]);
    }
  });
}

/** Finds the shard of a hash. The ranges are in the order of their hashes, and without gaps. */
export function shardOf(ranges: readonly Pick<Shard, "shardId" | "min">[], hash: number): string {
  let [low, high] = [0, ranges.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ranges[middle]?.min ?? 0) <= hash) low = middle;
    else high = middle - 1;
  }
  return ranges[low]?.shardId ?? "server";
}

/**
 * Whether a Citus cluster refused a statement because the organizations of the statement are not all on one shard, or because Citus cannot tell that
 * they are.
 */
export function isRefusedByShards(error: unknown): boolean {
  return sqlState(error) === "0A000";
}

const relearnMs = 10_000;

const findCitus = statement<{ isThere: boolean }>(
  "find_citus",
  "global",
  `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AS "isThere"`,
);

/** Citus need not know the tables of nodes, rate usage and migrations: no transaction changes one of them together with an organization's table. */
const findUnknownTable = statement<{ table: string }>(
  "find_table_unknown_to_citus",
  "global",
  `SELECT own.oid::regclass::text AS table
   FROM pg_class AS own
   WHERE own.relkind = 'r' AND own.relnamespace = current_schema()::regnamespace
     AND own.relname NOT IN ('node', 'rate_usage', 'schema_migration')
     AND NOT EXISTS (SELECT 1 FROM pg_dist_partition AS known WHERE known.logicalrelid = own.oid)
   ORDER BY own.relname
   LIMIT 1`,
);

const holdLedger = statement<never>(
  "hold_schema_migrations",
  "global",
  "UPDATE schema_migration SET name = name WHERE number = 1",
);

const addLocalTable = statement<never>(
  "add_local_table_to_citus",
  "global",
  "SELECT citus_add_local_table_to_metadata($1::regclass, cascade_via_foreign_keys => true)",
);

const listShards = statement<Shard>(
  "list_shards",
  "global",
  `SELECT shard.logicalrelid::text AS table, shard_name(shard.logicalrelid, shard.shardid) AS name, shard.shardid::text AS "shardId",
     shard.shardminvalue::integer AS min, shard.shardmaxvalue::integer AS max, place.nodename AS host, place.nodeport AS port
   FROM pg_dist_partition AS spread
   JOIN pg_dist_shard AS shard ON shard.logicalrelid = spread.logicalrelid
   JOIN pg_dist_placement AS placement ON placement.shardid = shard.shardid
   JOIN pg_dist_node AS place ON place.groupid = placement.groupid AND place.noderole = 'primary'
   WHERE spread.partmethod = 'h'
   ORDER BY shard.logicalrelid::text, shard.shardminvalue::integer`,
);
