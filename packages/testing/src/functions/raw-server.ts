import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A connection, with the data that it has received so far. */
export interface RawConnection {
  readonly socket: Socket;
  received(): string;
}

/** A real TCP server whose answers a test chooses freely, HTTP or not. For each piece of data it gets, it calls the function given to `start`. */
export class RawServer implements AsyncDisposable {
  readonly connections: RawConnection[] = [];
  readonly #server = createServer();
  readonly #sockets = new Set<Socket>();

  static async start(talk: (connection: RawConnection) => void, host = "127.0.0.1"): Promise<RawServer> {
    const raw = new RawServer();
    raw.#server.on("connection", (socket: Socket) => {
      let text = "";
      const connection: RawConnection = { socket, received: () => text };
      raw.#sockets.add(socket);
      raw.connections.push(connection);
      socket.on("close", () => raw.#sockets.delete(socket));
      // In some tests the client disconnects in the middle. Then the socket has an error, which does not matter here.
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
        talk(connection);
      });
    });
    raw.#server.listen(0, host);
    await once(raw.#server, "listening");
    return raw;
  }

  /** Starts a server that answers each piece of data with these bytes, and leaves the connection open. */
  static async saying(answer: string | Buffer): Promise<RawServer> {
    return await RawServer.start(({ socket }) => socket.write(answer));
  }

  /** Waits until all present connections have ended. */
  async ended(): Promise<void> {
    const ended = [...this.#sockets].map(
      (socket) => new Promise<void>((resolve) => socket.on("close", () => resolve())),
    );
    await Promise.all(ended);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
