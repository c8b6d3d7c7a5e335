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
  /** Told when the store's disk becomes full, and when it has room again. */
  readonly onFull: (isFull: boolean) => void;
}

/**
 * The store in this process: PGlite, which is PostgreSQL compiled to WebAssembly, in `dataDir`. As durable as a server: every
 * commit syncs its log to disk before it answers. Throws `DirectoryLockedError` when another process holds the directory.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const unlock = lockDirectory(options.dataDir);
  try {
    const cluster = join(options.dataDir, "postgres");
    if (!existsSync(cluster)) await createCluster(options.dataDir, cluster);
    // PGlite makes its files readable and writable for all, and a copy from a backup may have lost its mode.
    chmodSync(cluster, 0o700);
    const pglite = await openCluster(cluster, options);
    const { timeoutMs, readTimeoutMs } = options;
    const watch = new StatementWatch(cancelMark(pglite), Math.min(timeoutMs, readTimeoutMs));
    // PGlite is one session: a pool of one queues reads behind a transaction, as they must be. Whose turn it is, the lanes say.
    const pool = new pg.Pool({
      stream: () => new EmbeddedSocket(pglite, (exchange) => watch.run(shared.limitMs(), exchange)),
      user: "postgres",
      database: "postgres",
      max: 1,
      pipeline: true,
      types: columnTypes,
      // The session is the one before: with its statements, and with the transaction in which a client was given up.
      verify: (client: pg.PoolClient, done: (error?: Error) => void) => {
        client
          .query("ROLLBACK")
          .then(() => client.query("DEALLOCATE ALL"))
          .then(() => done(), done);
      },
    } as unknown as pg.PoolConfig);
    // The engine's own statements are bounded by how much they take at once, and a migration must end.
    const shared = sharedLanes(pool, { requests: timeoutMs, reads: readTimeoutMs });
    const { engine, requests, reads } = shared;
    const bounds = { maxRunning: 1, maxRunningPerOrganization: 1, deadlineMs: readTimeoutMs };
    return poolDatabase(
      { engine, requests, reads: new ReadLane(reads, bounds) },
      {
        preparedStatements: true,
        groupOf: () => "embedded",
        isShared: false,
        // A statement runs to its end before anything else does: some milliseconds' worth.
        sliceRows: 5_000,
        room: new DiskRoom(options.onFull),
        closeHome: async () => {
          watch.close();
          // Changes that are only in the log would have to be replayed at the next start.
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

/** Marks the statement that runs as to be cancelled, as PostgreSQL does on a cancel request: it looks there wherever a statement may be broken off. */
function cancelMark(pglite: PGlite): (isWanted: boolean) => void {
  const { wasmMemory, _QueryCancelPending, _InterruptPending } = pglite.Module as unknown as Interruptible;
  return (isWanted) => {
    const memory = new Int32Array(wasmMemory.buffer);
    memory[_QueryCancelPending / Int32Array.BYTES_PER_ELEMENT] = isWanted ? 1 : 0;
    if (isWanted) memory[_InterruptPending / Int32Array.BYTES_PER_ELEMENT] = 1;
  };
}

/** PGlite's module has the addresses of PostgreSQL's variables; its types do not say. */
interface Interruptible {
  readonly wasmMemory: { readonly buffer: ArrayBuffer };
  readonly _QueryCancelPending: number;
  readonly _InterruptPending: number;
}

/** PGlite's own defaults turn fsync off ("-F"), which is right in a browser and wrong here. */
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
    // A checkpoint blocks this process, and after a crash the log since the last one is replayed: keep both short.
    max_wal_size: "96MB",
    jit: "off",
  };
  return ["--single", "-O", "-j", ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

async function openCluster(cluster: string, options: EmbeddedOptions): Promise<PGlite> {
  try {
    // Without this file PGlite would take the directory for an empty one and make a new store in it.
    accessSync(join(cluster, "PG_VERSION"), constants.R_OK);
    return await PGlite.create({
      fs: new DurableFileSystem(cluster, options),
      startParams: startParameters(options.bufferMb),
    });
  } catch (error) {
    const reason = `but the store in ${cluster} does not open (${describeFileError(error)}). If this user may read and write all of its files, they are damaged: restore the directory from a backup.`;
    throw new DataDirectoryError(options.dataDir, reason, error);
  }
}

/** In a process of its own: creating a cluster takes 200 MB that this process would keep until its end. */
async function createCluster(dataDir: string, cluster: string): Promise<void> {
  const script = fileURLToPath(new URL(`./embedded-create${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [script, cluster, String(process.pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString("utf8");
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code === 0) return;
  const reason = complaint.trim() || `the process that creates it ended with ${code}`;
  throw new DataDirectoryError(dataDir, `but no store could be created in ${cluster}: ${reason}.`);
}
