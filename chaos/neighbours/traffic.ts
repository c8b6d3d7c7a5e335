import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "../../bench/connection.ts";
import type { Traffic } from "./hostile-tenant.ts";

/** Sends the requests of a hostile tenant. A rejection counts as an answer like any other; a lost connection is opened again. */
export class HostileTraffic implements Traffic {
  readonly #port: number;
  readonly #token: string;
  readonly #end: AbortSignal;
  readonly #counts = new Map<string, number>();

  constructor(port: number, token: string, end: AbortSignal) {
    this.#port = port;
    this.#token = token;
    this.#end = end;
  }

  /** How many answers had each status, and how often a connection was lost. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([left], [right]) => left.localeCompare(right)));
  }

  async keepAsking(connectionCount: number, next: () => string | Buffer): Promise<void> {
    await this.#onEach(connectionCount, async () => {
      let connection: Connection | undefined;
      await this.#again(async () => {
        if (!connection?.isOpen) connection = await Connection.open(this.#port);
        const { status } = await connection.ask(next());
        this.#count(String(status));
      });
      connection?.close();
    });
  }

  async keepReading(connectionCount: number, nextPath: () => string): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: connectionCount });
    await this.#onEach(connectionCount, () => this.#again(() => this.#read(agent, nextPath())));
    agent.destroy();
  }

  async #onEach(count: number, work: () => Promise<void>): Promise<void> {
    await Promise.all(Array.from({ length: count }, work));
  }

  async #again(ask: () => Promise<void>): Promise<void> {
    while (!this.#end.aborted) {
      try {
        await ask();
      } catch {
        if (this.#end.aborted) return;
        this.#count("lost");
        await sleep(lostPauseMs);
      }
    }
  }

  #read(agent: Agent, path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#token}` };
      const request = get(
        { host: "127.0.0.1", port: this.#port, path, agent, headers, signal: this.#end },
        (response) => {
          this.#count(String(response.statusCode));
          response.on("end", resolve).on("error", reject);
          response.resume();
        },
      );
      request.on("error", reject);
    });
  }

  #count(outcome: string): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }
}

const lostPauseMs = 200;
