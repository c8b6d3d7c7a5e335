import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import pg from "pg";
import { newDatabase } from "./own-database.ts";

interface StandInWorker {
  readonly host: string;
  readonly port: number;
}

/** The workers of every stand-in. Each has two of the four shards of each distributed table. */
export const standInWorkers: readonly [StandInWorker, StandInWorker] = [
  { host: "worker-1.test", port: 5432 },
  { host: "worker-2.test", port: 5432 },
];

export interface CitusStandIn {
  readonly url: string;
  /** A connection of the tests' own. */
  readonly client: pg.Client;
  remove(): Promise<void>;
}

/**
 * Makes a database on the tests' PostgreSQL server that answers Stepwell's questions as a Citus cluster does: it has the tables of the catalogue, the
 * functions and the names of shards that Stepwell uses. The shards of a table are views of that table. The database shows which commands go to which
 * worker, and what happens when a worker is down or a shard has moved. It does not plan statements as Citus does, and rejects only some of what Citus
 * rejects. If `isDistributed` is true, the script that operators use has distributed the store in it.
 */
export async function makeCitusStandIn(isDistributed = true): Promise<CitusStandIn> {
  const database = await newDatabase("newest");
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(standIn);
  await client.query(
    `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET search_path = public, citus_stand_in`,
  );
  await client.query("SET search_path = public, citus_stand_in");
  if (isDistributed) await client.query(`BEGIN; ${distributeScript()} COMMIT`);
  return {
    url: database.url,
    client,
    async remove() {
      await client.end();
      await database.remove();
    },
  };
}

/** The script with which an operator distributes a store over the workers. */
export function distributeScript(): string {
  return readFileSync(resolve(import.meta.dirname, "../../../../deploy/citus/distribute.sql"), "utf8");
}

const shardCount = 4;
const width = 2 ** 32 / shardCount;

const standIn = `
  CREATE SCHEMA citus_stand_in;
  SET search_path = citus_stand_in, public;
  CREATE TABLE pg_dist_node (nodeid integer PRIMARY KEY, groupid integer, nodename text, nodeport integer, noderole text DEFAULT 'primary');
  CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod "char");
  CREATE TABLE pg_dist_shard (logicalrelid regclass, shardid bigint PRIMARY KEY, shardminvalue text, shardmaxvalue text);
  CREATE TABLE pg_dist_placement (shardid bigint, groupid integer);
  CREATE TABLE worker_down (nodename text);
  CREATE TABLE worker_command (nodename text, command text);
  CREATE SEQUENCE next_shard START 102008;
  INSERT INTO pg_dist_node VALUES ${standInWorkers.map(({ host, port }, index) => `(${index + 1}, ${index + 1}, '${host}', ${port})`).join(", ")};

  CREATE FUNCTION shard_name(object_name regclass, shard_id bigint) RETURNS text LANGUAGE sql AS $$
    SELECT format('%I', relname || '_' || shard_id) FROM pg_class WHERE oid = object_name
  $$;

  CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text, colocate_with text DEFAULT 'default')
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    shard bigint;
    first bigint;
  BEGIN
    IF EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND table_name IN (conrelid, confrelid)
      AND (SELECT count(*) FROM pg_dist_partition WHERE logicalrelid IN (conrelid, confrelid)) < 2) THEN
      RAISE EXCEPTION 'a foreign key of % leads to or from a table that is not distributed', table_name;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_index WHERE indrelid = table_name AND indisunique AND NOT EXISTS (
      SELECT 1 FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey) AND attname = distribution_column)) THEN
      RAISE EXCEPTION 'a unique index of % goes across shards', table_name;
    END IF;
    INSERT INTO pg_dist_partition VALUES (table_name, 'h');
    FOR place IN 0..${shardCount - 1} LOOP
      shard := nextval('next_shard');
      first := -2147483648 + place * ${width}::bigint;
      INSERT INTO pg_dist_shard VALUES (table_name, shard, first::text, (first + ${width - 1})::text);
      INSERT INTO pg_dist_placement VALUES (shard, place % 2 + 1);
      EXECUTE format('CREATE VIEW %s AS SELECT * FROM %s WHERE uuid_hash(%I) BETWEEN %s AND %s',
        shard_name(table_name, shard), table_name, distribution_column, first, first + ${width - 1});
    END LOOP;
  END $$;

  CREATE FUNCTION citus_add_local_table_to_metadata(table_name regclass, cascade_via_foreign_keys boolean DEFAULT false)
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    other regclass;
  BEGIN
    INSERT INTO pg_dist_partition VALUES (table_name, 'n');
    FOR other IN SELECT CASE WHEN conrelid = table_name THEN confrelid ELSE conrelid END
      FROM pg_constraint WHERE contype = 'f' AND table_name IN (conrelid, confrelid) LOOP
      IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = other) THEN
        IF NOT cascade_via_foreign_keys THEN
          RAISE EXCEPTION 'relation % is involved in a foreign key relationship', table_name;
        END IF;
        PERFORM citus_add_local_table_to_metadata(other, true);
      END IF;
    END LOOP;
  END $$;

  CREATE FUNCTION master_run_on_worker(worker_name text[], port integer[], command text[], parallel boolean,
    OUT node_name text, OUT node_port integer, OUT success boolean, OUT result text)
  RETURNS SETOF record LANGUAGE plpgsql AS $$
  DECLARE
    missing text;
  BEGIN
    FOR place IN 1..cardinality(worker_name) LOOP
      node_name := worker_name[place];
      node_port := port[place];
      success := false;
      INSERT INTO worker_command VALUES (node_name, command[place]);
      SELECT name[1] INTO missing
      FROM regexp_matches(command[place], '\\m[a-z_]+_(10[0-9]{4})\\M', 'g') AS name
      WHERE NOT EXISTS (SELECT 1 FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
        WHERE shardid = name[1]::bigint AND nodename = node_name);
      IF EXISTS (SELECT 1 FROM worker_down WHERE nodename = node_name) THEN
        result := format('failed to connect to %s:%s', node_name, node_port);
      ELSIF missing IS NOT NULL THEN
        result := format('relation with shard %s does not exist', missing);
      ELSE
        BEGIN
          EXECUTE command[place] INTO result;
          success := true;
        EXCEPTION WHEN OTHERS THEN
          result := SQLERRM;
        END;
      END IF;
      RETURN NEXT;
    END LOOP;
  END $$;

  INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  SELECT 999999, 'citus', oid, 'citus_stand_in'::regnamespace, false, 'stand-in' FROM pg_roles WHERE rolname = current_user;
`;
