import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The common address of several nodes. Each request goes to the next node, as with the simplest load balancers. */
export class Splitter {
  readonly #server: Server;
  #ports: readonly number[] = [];
  #next = 0;

  private constructor() {
    this.#server = createServer((request, response) => this.#relay(request, response));
  }

  /** Begins to listen, so that nodes can be given the address before they start. */
  static async listen(): Promise<Splitter> {
    const splitter = new Splitter();
    splitter.#server.listen(0, "127.0.0.1");
    await once(splitter.#server, "listening");
    return splitter;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  between(ports: readonly number[]): void {
    this.#ports = ports;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #relay(request: IncomingMessage, response: ServerResponse): void {
    const port = this.#ports[this.#next % this.#ports.length] ?? 0;
    this.#next += 1;
    const { method, url: path, headers } = request;
    const onward = forward({ host: "127.0.0.1", port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  }
}
