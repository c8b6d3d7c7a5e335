import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A proxy in front of a PostgreSQL server. It counts the statements that clients send, including BEGIN and COMMIT. */
export class StatementCounter {
  readonly #server: Server;
  readonly #url: URL;
  readonly #sockets = new Set<Socket>();
  count = 0;

  static async before(databaseUrl: string): Promise<StatementCounter> {
    const counter = new StatementCounter(new URL(databaseUrl));
    counter.#server.listen(0, "127.0.0.1");
    await once(counter.#server, "listening");
    return counter;
  }

  private constructor(url: URL) {
    this.#url = url;
    this.#server = createServer({ noDelay: true }, (client) => this.#relay(client));
  }

  /** The URL at which clients reach the database through the counter. */
  get url(): string {
    const url = new URL(this.#url);
    url.hostname = "127.0.0.1";
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  async stop(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, "close");
  }

  #relay(client: Socket): void {
    const server = connect({ port: Number(this.#url.port || 5432), host: this.#url.hostname, noDelay: true });
    const messages = new MessageReader((type) => {
      if (type === "E" || type === "Q") this.count += 1;
    });
    client.on("data", (chunk) => messages.read(chunk));
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
  }
}

/**
 * Reads a client's messages. The first message has no type. Every other message begins with a letter for its type. All have their length in four
 * bytes.
 */
class MessageReader {
  readonly #onMessage: (type: string) => void;
  #head = Buffer.alloc(0);
  #left = 0;
  #typeLength = 0;

  constructor(onMessage: (type: string) => void) {
    this.#onMessage = onMessage;
  }

  read(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      const skipped = Math.min(this.#left, rest.length);
      this.#left -= skipped;
      rest = rest.subarray(skipped);
      if (rest.length === 0) return;
      const headLength = this.#typeLength + 4;
      const missing = headLength - this.#head.length;
      this.#head = Buffer.concat([this.#head, rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      if (this.#head.length < headLength) return;
      this.#left = this.#head.readUInt32BE(this.#typeLength) - 4;
      if (this.#typeLength === 1) this.#onMessage(this.#head.toString("latin1", 0, 1));
      this.#typeLength = 1;
      this.#head = Buffer.alloc(0);
    }
  }
}
