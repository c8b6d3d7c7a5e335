import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chmodSync, constants, existsSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { DataDirectoryError } from "./data-directory.ts";
import type { Database } from "./database.ts";
import { lockDirectory } from "./directory-lock.ts";
import { DiskRoom } from "./disk-room.ts";
import { DurableFileSystem, describeFileError, type SyncOptions } from "./durable-file-system.ts";
import { EmbeddedSocket } from "./embedded-socket.ts";
import { ReadLane, sharedLanes } from "./lanes.ts";
import { columnTypes, poolDatabase } from "./pool.ts";
import { StatementWatch } from "./statement-watch.ts";

export interface EmbeddedOptions extends SyncOptions {
  readonly dataDir: string;
  readonly bufferMb: number;
  readonly timeoutMs: number;
  readonly readTimeoutMs: number;
  /**
   * Called after PostgreSQL panicked. The usual reason is that there was no room for its log. The process must end, and the store recovers from the
   * log at the next start.
   */
  readonly onPanic: (reason: string) => void;
  /** Called when the store's disk becomes full, and when it has room again. */
  readonly onFull: (isFull: boolean) => void;
}

/**
 * The store inside this process: PGlite, which is PostgreSQL compiled to WebAssembly, in `dataDir`. It is as durable as a server: every commit syncs
 * its log to the disk before it answers. Throws `DirectoryLockedError` when another process has locked the directory.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const unlock = lockDirectory(options.dataDir);
  try {
    const cluster = join(options.dataDir, "postgres");
    if (!existsSync(cluster)) await createCluster(options.dataDir, cluster);
    // PGlite makes its files readable and writable for all users, and a copy from a backup may have lost its mode.
    chmodSync(cluster, 0o700);
    const pglite = await openCluster(cluster, options);
    const { timeoutMs, readTimeoutMs } = options;
    const watch = new StatementWatch(cancelMark(pglite), Math.min(timeoutMs, readTimeoutMs));
    // PGlite has one session. Reads must not run inside another client's transaction, so the pool has one connection, which makes them wait. The
    // lanes decide the order.
    const pool = new pg.Pool({
      stream: () => new EmbeddedSocket(pglite, (exchange) => watch.run(shared.limitMs(), exchange), options.onPanic),
      user: "postgres",
      database: "postgres",
      max: 1,
      pipeline: true,
      types: columnTypes,
      // Each client of the pool uses the same session. An earlier client may have been given up in the middle of a transaction. So a new client first
      // ends that transaction, and drops the prepared statements.
      verify: (client: pg.PoolClient, done: (error?: Error) => void) => {
        client
          .query("ROLLBACK")
          .then(() => client.query("DEALLOCATE ALL"))
          .then(() => done(), done);
      },
    } as unknown as pg.PoolConfig);
    // The engine's own statements have no time limit, because their size is bounded and a migration must not be cut off.
    const shared = sharedLanes(pool, { requests: timeoutMs, reads: readTimeoutMs });
    const { engine, requests, reads } = shared;
    const bounds = { maxRunning: 1, maxRunningPerOrganization: 1, deadlineMs: readTimeoutMs };
    return poolDatabase(
      { engine, requests, reads: new ReadLane(reads, bounds) },
      {
        preparedStatements: true,
        sharding: undefined,
        isShared: false,
        // Nothing else runs until a statement ends. This many rows take a few milliseconds.
        sliceRows: 5_000,
        room: new DiskRoom(options.onFull),
        closeHome: async () => {
          watch.close();
          // Without the checkpoint, changes that are only in the log would have to be replayed at the next start.
          await pglite.exec("CHECKPOINT");
          await pglite.close();
          unlock();
        },
      },
    );
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Makes the function that marks the running statement for cancellation, as PostgreSQL does on a cancel request. PostgreSQL checks the mark wherever a
 * statement may be interrupted.
 */
function cancelMark(pglite: PGlite): (isWanted: boolean) => void {
  const { wasmMemory, _QueryCancelPending, _InterruptPending } = pglite.Module as unknown as Interruptible;
  return (isWanted) => {
    const memory = new Int32Array(wasmMemory.buffer);
    memory[_QueryCancelPending / Int32Array.BYTES_PER_ELEMENT] = isWanted ? 1 : 0;
    if (isWanted) memory[_InterruptPending / Int32Array.BYTES_PER_ELEMENT] = 1;
  };
}

/** The memory of PGlite's module, and the addresses of two of PostgreSQL's variables in it. PGlite's types do not describe them. */
interface Interruptible {
  readonly wasmMemory: { readonly buffer: ArrayBuffer };
  readonly _QueryCancelPending: number;
  readonly _InterruptPending: number;
}

/** The start parameters. PGlite's defaults turn fsync off ("-F"), which suits a browser and would lose data here. */
function startParameters(bufferMb: number): string[] {
  const parameters = {
    search_path: "public",
    exit_on_error: "false",
    log_checkpoints: "false",
    max_worker_processes: "0",
    max_parallel_workers: "0",
    max_parallel_workers_per_gather: "0",
    max_parallel_maintenance_workers: "0",
    io_method: "sync",
    fsync: "on",
    wal_sync_method: "fsync",
    shared_buffers: `${bufferMb}MB`,
    // Each vacuum freezes what it looks at. Otherwise a whole table would have to be frozen in one go some day, and the process would stop for long.
    vacuum_freeze_min_age: "0",
    jit: "off",
  };
  return ["--single", "-O", "-j", ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

async function openCluster(cluster: string, options: EmbeddedOptions): Promise<PGlite> {
  try {
    // Without this file PGlite would treat the directory as empty and make a new store in it.
    accessSync(join(cluster, "PG_VERSION"), constants.R_OK);
    return await PGlite.create({
      fs: new DurableFileSystem(cluster, options),
      startParams: startParameters(options.bufferMb),
    });
  } catch (error) {
    const reason = `but the store in ${cluster} does not open (${describeFileError(error)}). If the disk has room and this user may read and write all files of the store, they are damaged: restore the directory from a backup.`;
    throw new DataDirectoryError(options.dataDir, reason, error);
  }
}

/** Creates a cluster in a separate process, because this takes 200 MB of memory that the present process would keep until its end. */
async function createCluster(dataDir: string, cluster: string): Promise<void> {
  const script = fileURLToPath(new URL(`./embedded-create${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [script, cluster, String(process.pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString("utf8");
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  if (code === 0) return;
  const reason = complaint.trim() || `the process that creates it ended with ${code ?? signal}`;
  throw new DataDirectoryError(dataDir, `but no store could be created in ${cluster}: ${reason}.`);
}
