import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findFreePort } from "../free-port.ts";

/** Returns the path of PgBouncer; undefined if it is not installed. */
export function findPgBouncer(): string | undefined {
  return ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"].find(
    (path) => existsSync(path),
  );
}

/** Tells whether this is PgBouncer 1.21 or newer, which stores prepared statements for each client. */
export function keepsStatements(program: string): boolean {
  const [, major = "0", minor = "0"] = /PgBouncer (\d+)\.(\d+)/.exec(run(program, "--version")) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

/**
 * Runs PgBouncer in transaction mode in front of a PostgreSQL server. Unless `keepsStatements` is true for the program, the service needs the setting
 * `STEPWELL_PREPARED_STATEMENTS=false`.
 */
export class PgBouncer {
  readonly url: string;
  readonly #directory: string;
  readonly #process: ChildProcess;

  /** `url` names the server. `poolSize` is the number of the server's sessions that all clients share. */
  static async before(program: string, url: string, poolSize: number): Promise<PgBouncer> {
    const bouncer = new PgBouncer(program, new URL(url), poolSize, await findFreePort());
    try {
      await bouncer.#listening();
      return bouncer;
    } catch (error) {
      await bouncer.stop();
      throw error;
    }
  }

  private constructor(program: string, server: URL, poolSize: number, port: number) {
    this.#directory = mkdtempSync(join(tmpdir(), "stepwell-pgbouncer-"));
    const file = join(this.#directory, "pgbouncer.ini");
    const { hostname, username, password } = server;
    const lines = [
      "[databases]",
      `* = host=${hostname} port=${server.port} user=${username} password=${decodeURIComponent(password)}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      "pool_mode = transaction",
      `default_pool_size = ${poolSize}`,
      "max_client_conn = 200",
      ...(keepsStatements(program) ? ["max_prepared_statements = 200"] : []),
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    // PgBouncer does not run as root.
    const isRoot = process.getuid?.() === 0;
    for (const path of isRoot ? [this.#directory, file] : []) chmodSync(path, 0o755);
    const user = isRoot ? { uid: Number(run("id", "-u", "nobody")), gid: Number(run("id", "-g", "nobody")) } : {};
    this.#process = spawn(program, [file], { ...user, stdio: "ignore" });
    const own = new URL(server);
    own.hostname = "127.0.0.1";
    own.port = String(port);
    this.url = own.href;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.kill("SIGKILL")) await once(this.#process, "exit");
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #listening(): Promise<void> {
    const port = Number(new URL(this.url).port);
    for (let attempt = 0; attempt < 500; attempt += 1) {
      if (this.#process.exitCode !== null) throw new Error(`PgBouncer ended with ${this.#process.exitCode}.`);
      const socket = createConnection({ port, host: "127.0.0.1" });
      const isOpen = await new Promise((resolve) => {
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      });
      socket.destroy();
      if (isOpen === true) return;
      await delay(10);
    }
    throw new Error("PgBouncer does not listen.");
  }
}

function run(program: string, ...values: readonly string[]): string {
  return spawnSync(program, values, { encoding: "utf8" }).stdout;
}
