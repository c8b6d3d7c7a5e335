import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  /** The id by which the service recognizes a repeated request that has no key. `attempt` is the number of the attempt. */
  readonly invocationId: string | undefined;
  readonly attempt: string | undefined;
  readonly lastEventId: string | undefined;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/**
 * `drop`: the connection closes without an answer. `hold`: the connection stays open without an answer. An answer with `cut` stops in the middle of
 * its body: the connection then closes (`broken`) or stays open (`open`).
 */
export type Scripted =
  | "drop"
  | "hold"
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: unknown;
      readonly cut?: "broken" | "open";
    };

/** A server that gives the prepared answers in order, repeats the last one for all further requests, and records the requests. */
export class ScriptedServer {
  readonly baseUrl: string;
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Starts a server, which ends with its test. */
  static async start(...script: Scripted[]): Promise<ScriptedServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const scripted = new ScriptedServer(server);
    server.on("connection", (socket) => {
      scripted.#sockets.add(socket);
      socket.on("close", () => scripted.#sockets.delete(socket));
    });
    scripted.#play(script);
    onTestFinished(() => scripted.stop());
    return scripted;
  }

  openConnections(): number {
    return this.#sockets.size;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #play(script: readonly Scripted[]): void {
    this.#server.on("request", async (request, response) => {
      const index = this.received.length;
      this.received.push(await whatCame(request));
      const next = script[Math.min(index, script.length - 1)] ?? "drop";
      if (next === "hold") return;
      if (next === "drop") {
        request.socket.destroy();
        return;
      }
      const isText = typeof next.body === "string";
      response.writeHead(next.status, { "content-type": isText ? "text/html" : "application/json", ...next.headers });
      const text = isText ? String(next.body) : JSON.stringify(next.body ?? {});
      if (next.cut === undefined) response.end(next.status === 204 ? undefined : text);
      else response.write(text, () => next.cut === "broken" && request.socket.destroy());
    });
  }
}

async function whatCame(request: IncomingMessage): Promise<Received> {
  const { method = "", url = "", headers } = request;
  const one = (name: string) => headers[name]?.toString();
  const sent = await text(request);
  return {
    method,
    url,
    key: one("idempotency-key"),
    invocationId: one("amz-sdk-invocation-id"),
    attempt: one("amz-sdk-request"),
    lastEventId: one("last-event-id"),
    authorization: headers.authorization,
    body: sent === "" ? undefined : JSON.parse(sent),
  };
}
