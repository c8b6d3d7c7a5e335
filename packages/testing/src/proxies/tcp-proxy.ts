import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** What may happen to one message from the client to the server. */
type Fate = "answer-swallowed" | "lost" | "late" | "stuck";

/** A message to which the proxy did something. */
export interface MarkedMessage {
  /** Sends a late message to the server, and returns when the server has answered. The client's connection was closed before that. */
  deliver(): Promise<void>;
}

interface Mark {
  readonly text: string;
  readonly after: string | undefined;
  /** The connections on which the text `after` has passed. */
  readonly passed: Set<Socket>;
  readonly fate: Fate;
  readonly met: (message: MarkedMessage) => void;
}

/** A proxy in front of a server. It breaks connections and holds data back, as networks do. */
export class TcpProxy {
  readonly #target: URL;
  readonly #pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  #listener: Server;
  #isFrozen = false;
  #mark: Mark | undefined;
  #change: (answer: Buffer) => Buffer = (answer) => answer;
  #port = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#listener = createServer();
  }

  static async before(url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url));
    await proxy.#listen();
    return proxy;
  }

  /** The server's URL, with the address of the proxy instead of the server's. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = "127.0.0.1";
    url.port = String(this.#port);
    return url.href;
  }

  /** From now on everything passes, and frozen connections continue. */
  async pass(): Promise<void> {
    this.#isFrozen = false;
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
    if (!this.#listener.listening) await this.#listen();
  }

  /** Acts as if the server were gone: connections break, and new ones are refused. */
  async refuse(): Promise<void> {
    const closed = once(this.#listener, "close");
    this.#listener.close();
    this.drop();
    await closed;
  }

  /** Connections stay open and new ones are accepted, but nothing passes. */
  freeze(): void {
    this.#isFrozen = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  /** Breaks all connections. New ones are accepted. */
  drop(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /**
   * Waits for the next message that contains `text`, treats it as `fate` says, and returns. `answer-swallowed`: the server gets the message, but its
   * answer is lost. `lost`: the message never arrives. `late`: the message arrives when `deliver` is called. These three break the connection.
   * `stuck`: the message never arrives, and the connection stays open until the server closes it. If `after` is given, the proxy looks only at
   * connections that have sent the text `after` since `onNext` was called. So a test can choose the COMMIT of one kind of transaction, although every
   * duty of a service sends a COMMIT.
   */
  onNext(text: string, fate: Fate, after?: string): Promise<MarkedMessage> {
    return new Promise((resolve) => {
      this.#mark = { text, fate, after, passed: new Set(), met: resolve };
    });
  }

  changeAnswers(change: (answer: Buffer) => Buffer): void {
    this.#change = change;
  }

  async stop(): Promise<void> {
    if (this.#listener.listening) await this.refuse();
    this.drop();
  }

  async #listen(): Promise<void> {
    this.#listener = createServer((client) => this.#relay(client));
    this.#listener.listen(this.#port, "127.0.0.1");
    await once(this.#listener, "listening");
    this.#port = (this.#listener.address() as AddressInfo).port;
  }

  #relay(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const pair = { client, server };
    this.#pairs.add(pair);
    for (const socket of [client, server]) {
      socket.on("error", () => {});
      if (this.#isFrozen) socket.pause();
    }
    const part = () => {
      this.#pairs.delete(pair);
      // The last data from the server must still reach the client.
      client.destroySoon();
      server.destroy();
    };
    client.on("close", part);
    server.on("close", part);
    server.on("data", (chunk) => client.write(this.#change(chunk)));
    client.on("data", (chunk) => {
      const mark = this.#mark;
      if (mark?.after !== undefined && chunk.includes(mark.after)) mark.passed.add(client);
      const isMeant = mark !== undefined && (mark.after === undefined || mark.passed.has(client));
      if (!isMeant || !chunk.includes(mark.text)) return void server.write(chunk);
      this.#mark = undefined;
      if (mark.fate === "stuck") return mark.met({ deliver: async () => {} });
      client.off("close", part);
      server.removeAllListeners("data");
      void this.#meetFate(mark, chunk, pair, part);
    });
  }

  async #meetFate(
    { fate, met }: Mark,
    message: Buffer,
    { client, server }: { client: Socket; server: Socket },
    part: () => void,
  ): Promise<void> {
    const deliver = async () => {
      const answered = Promise.race([once(server, "data"), once(server, "close")]);
      server.write(message);
      await answered;
      part();
    };
    if (fate === "answer-swallowed") await deliver();
    if (fate === "lost") part();
    // For `late`, only the client's side is closed: the server must wait for the message in the middle of its transaction.
    client.destroy();
    met({ deliver });
  }
}
