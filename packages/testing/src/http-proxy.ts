import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * What becomes of a request on its way:
 * - `passed`: nothing;
 * - `lost`: the connection breaks before the service has it;
 * - `refused`: the proxy answers 503 by itself;
 * - `answer-lost`: the service carries it out, and the connection breaks before the client has the answer;
 * - `answer-refused`: the service carries it out, and the proxy answers 503 in its place.
 */
export type Way = "passed" | "lost" | "refused" | "answer-lost" | "answer-refused";

/** A request that came to the proxy, with what the service answered, where it was asked. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly answer?: {
    readonly status: number;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  };
}

/** Stands between a client and the service, as a load balancer does over a bad network. */
export class HttpProxy {
  readonly exchanges: Exchange[] = [];
  readonly #target: URL;
  readonly #server: Server;
  #ways: Way[] = [];

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((incoming, outgoing) => void this.#relay(incoming, outgoing));
  }

  static async before(target: string): Promise<HttpProxy> {
    const proxy = new HttpProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The ways of the next requests, one after the other. Those after them pass. What came before is forgotten. */
  expect(...ways: readonly Way[]): void {
    this.#ways = [...ways];
    this.exchanges.length = 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const way = this.#ways.shift() ?? "passed";
    const body = await buffer(incoming);
    const { method = "", url: path = "", headers } = incoming;
    const exchange = { method, path, headers, body: body.toString("utf8") };
    if (way === "lost" || way === "refused") {
      this.exchanges.push(exchange);
      return way === "lost" ? void outgoing.destroy() : unavailable(outgoing);
    }
    const answer = await this.#ask(exchange, body);
    this.exchanges.push({ ...exchange, answer });
    if (way === "answer-lost") outgoing.destroy();
    else if (way === "answer-refused") unavailable(outgoing);
    else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  }

  async #ask({ method, path, headers }: Exchange, body: Buffer) {
    const { hostname, port } = this.#target;
    const asking = request({ hostname, port, method, path, headers, agent: false }).end(body);
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    const text = (await buffer(response)).toString("utf8");
    return { status: response.statusCode ?? 0, headers: response.headers, body: text };
  }
}

function unavailable(outgoing: ServerResponse): void {
  outgoing.writeHead(503, { "content-type": "text/html" }).end("<h1>503 Service Unavailable</h1>");
}
