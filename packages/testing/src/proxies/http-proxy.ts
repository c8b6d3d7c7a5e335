import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * What happens to a request:
 * - `passed`: nothing special;
 * - `lost`: the connection breaks before the service gets the request;
 * - `refused`: the proxy itself answers 503;
 * - `answer-lost`: the service carries it out, and the connection breaks before the client has the answer;
 * - `answer-refused`: the service carries it out, but the proxy answers 503 instead.
 */
export type Way = "passed" | "lost" | "refused" | "answer-lost" | "answer-refused";

/** A request that reached the proxy, with the service's answer if the service got the request. */
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

/**
 * A proxy between a client and the service, like a load balancer in a bad network. It passes an answer on only when the answer is complete, so a
 * client receives nothing of a stream that is open.
 */
export class HttpProxy {
  readonly exchanges: Exchange[] = [];
  readonly #target: URL;
  readonly #server: Server;
  #ways: Way[] = [];

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((incoming, outgoing) => {
      // This fails when the client no longer waits, or when the service is gone.
      this.#relay(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  static async before(target: string, port = 0): Promise<HttpProxy> {
    const proxy = new HttpProxy(target);
    proxy.#server.listen(port, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets what happens to the next requests, in their order. All requests after them pass. Forgets earlier exchanges. */
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
    const { bytes, ...answer } = await this.#ask(exchange, body, outgoing);
    this.exchanges.push({ ...exchange, answer: { ...answer, body: bytes.toString("utf8") } });
    if (way === "answer-lost") outgoing.destroy();
    else if (way === "answer-refused") unavailable(outgoing);
    else outgoing.writeHead(answer.status, answer.headers).end(bytes);
  }

  async #ask({ method, path, headers }: Exchange, body: Buffer, outgoing: ServerResponse) {
    const { hostname, port } = this.#target;
    const asking = request({ hostname, port, method, path, headers, agent: false }).end(body);
    // The request to the service ends when the client no longer waits, so that no stream stays open.
    outgoing.once("close", () => asking.destroy());
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: await buffer(response) };
  }
}

function unavailable(outgoing: ServerResponse): void {
  outgoing.writeHead(503, { "content-type": "text/html" }).end("<h1>503 Service Unavailable</h1>");
}
