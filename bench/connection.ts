import { once } from "node:events";
import { createConnection, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * An HTTP/1.1 keep-alive connection that carries one request at a time. The load shares the machine with the service that it measures, and `fetch`
 * and `node:http` would use several times as much processor time as this class.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer | undefined;
  #waiting: Waiting | undefined;
  #closedBy: Error | undefined;

  /**
   * `timeoutMs` is how long the service may be silent while it owes an answer. After that time the connection is closed, since a late answer would be
   * taken for the answer to the next request.
   */
  static async open(port: number, timeoutMs = 60_000): Promise<Connection> {
    const socket = createConnection({ host: "127.0.0.1", port, noDelay: true });
    await once(socket, "connect");
    return new Connection(socket, timeoutMs);
  }

  static openMany(port: number, count: number): Promise<Connection[]> {
    return Promise.all(Array.from({ length: count }, () => Connection.open(port)));
  }

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => this.#end(error));
    socket.on("close", () => this.#end(new Error("The service closed the connection.")));
    socket.setTimeout(timeoutMs, () => {
      if (this.#waiting !== undefined) this.#end(new Error(`No answer within ${timeoutMs / 1000} s.`));
    });
  }

  get isOpen(): boolean {
    return this.#closedBy === undefined;
  }

  /** Rejects if the connection is lost before the answer is complete. The result of the request is then unknown. */
  ask(request: string | Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy !== undefined) return reject(this.#closedBy);
      if (this.#waiting !== undefined) return reject(new Error("A request is under way on this connection."));
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#end(new Error("The connection was closed by us."));
  }

  #receive(chunk: Buffer): void {
    const data = this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk]);
    try {
      if (this.#waiting === undefined) throw new Error("The service sent data without a request.");
      const answer = parseAnswer(data);
      this.#received = answer === undefined ? data : undefined;
      if (answer !== undefined) this.#settle(this.#waiting, answer);
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #settle(waiting: Waiting, { closes, ...answer }: ParsedAnswer): void {
    this.#waiting = undefined;
    // The service has announced that it closes the connection, so a further request would get no answer.
    if (closes) this.#end(new Error("The service closed the connection after its last answer."));
    waiting.resolve(answer);
  }

  #end(reason: Error): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = reason;
    this.#socket.destroy();
    this.#waiting?.reject(reason);
    this.#waiting = undefined;
  }
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

type ParsedAnswer = Answer & { readonly closes: boolean };

/** Undefined while `data` holds only a part of the answer. */
function parseAnswer(data: Buffer): ParsedAnswer | undefined {
  const headEnd = data.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  // The status stands at a fixed place: "HTTP/1.1 200 OK".
  const head = data.toString("latin1", 0, headEnd + 2);
  const status = Number(head.slice(9, 12));
  const bodyStart = headEnd + 4;
  const bodyEnd = bodyStart + bodyLengthOf(head, status);
  if (data.length < bodyEnd) return undefined;
  if (data.length > bodyEnd) throw new Error("The answer is longer than its head says.");
  return { status, body: data.subarray(bodyStart, bodyEnd), closes: /\r\nconnection: *close\r\n/i.test(head) };
}

function bodyLengthOf(head: string, status: number): number {
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  if (status === 204 || status === 304) return 0;
  throw new Error(`An answer without Content-Length: ${head}`);
}
