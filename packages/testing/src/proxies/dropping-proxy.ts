import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import fc from "fast-check";

/**
 * What happens to a connection: it lasts (undefined), or it breaks once this many bytes have passed from the client (in a request) or from the server
 * (in an answer).
 */
type Fate = { readonly from: "client" | "server"; readonly bytes: number } | undefined;

/**
 * A proxy in front of a server. It breaks the first two connections and about three in five of the others. Such a connection breaks after a random
 * number of bytes, if it carries that many: in the middle of a request, in the middle of an answer, or between the two, so that the server has
 * carried out the request but the client never learns of it. The same seed results in the same breaks.
 */
export class DroppingProxy {
  /** How many connections broke in a request, and how many in an answer. */
  readonly broken = { client: 0, server: 0 };
  readonly #target: URL;
  readonly #fates: Iterator<Fate>;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: string, seed: number) {
    this.#target = new URL(target);
    // The first connection breaks in a request and the second one in an answer, so that both are tried with each seed.
    const first = fc.sample(fc.tuple(breakIn("client"), breakIn("server")), { seed, numRuns: 1 }).flat();
    this.#fates = [...first, ...fc.sample(fateOfConnection, { seed, numRuns: maxConnections })].values();
    this.#listener = createServer((client) => this.#relay(client));
  }

  static async before(target: string, seed: number): Promise<DroppingProxy> {
    const proxy = new DroppingProxy(target, seed);
    proxy.#listener.listen(0, "127.0.0.1");
    await once(proxy.#listener, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#listener, "close");
  }

  #relay(client: Socket): void {
    const { value: fate, done } = this.#fates.next();
    if (done) throw new Error(`There were more than ${maxConnections} connections.`);
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const part = () => {
      client.destroySoon();
      server.destroySoon();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        part();
      });
    }
    this.#pass(fate, "client", client, server);
    this.#pass(fate, "server", server, client);
  }

  /** Passes on the data from one side until the given number of bytes has passed. */
  #pass(fate: Fate, from: "client" | "server", source: Socket, sink: Socket): void {
    let left = fate?.from === from ? fate.bytes : Number.POSITIVE_INFINITY;
    source.on("data", (chunk) => {
      left -= chunk.length;
      if (left > 0) return void sink.write(chunk);
      this.broken[from] += 1;
      source.removeAllListeners("data");
      // The receiver gets the bytes up to the break, and nothing after them.
      sink.end(chunk.subarray(0, chunk.length + left));
      source.destroy();
    });
  }
}

const maxConnections = 2_000;

/** Requests and answers of the API have some hundreds of bytes, and a connection may carry several of them. */
const bytes = fc.integer({ min: 0, max: 1_500 });
const breakIn = (from: "client" | "server"): fc.Arbitrary<Fate> => fc.record({ from: fc.constant(from), bytes });
const fateOfConnection = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: breakIn("client") },
  { weight: 3, arbitrary: breakIn("server") },
);
