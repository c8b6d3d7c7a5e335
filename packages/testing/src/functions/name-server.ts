import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

/** A real name server on this machine. The test chooses its answers for IPv4; for IPv6 it has no records. */
export class NameServer implements AsyncDisposable {
  readonly #socket: Socket = createSocket("udp4");
  /** The names that clients asked for, once for each question about IPv4. */
  readonly questions: string[] = [];

  /** `answer` returns the IPv4 addresses of a name, or undefined if the name does not exist. */
  static async start(answer: (name: string) => readonly string[] | undefined): Promise<NameServer> {
    const server = new NameServer();
    server.#socket.on("message", (query, { port, address }) => {
      const { name, end, isIpv4 } = questionOf(query);
      if (isIpv4) server.questions.push(name);
      server.#socket.send(answerTo(query, end, answer(name), isIpv4), port, address);
    });
    server.#socket.bind(0, "127.0.0.1");
    await once(server.#socket, "listening");
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, "close");
  }
}

/** Reads the single question of a query (RFC 1035, section 4.1.2): labels with their lengths, then type and class. */
function questionOf(query: Buffer): { name: string; end: number; isIpv4: boolean } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString("latin1", offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join("."), end: offset + 5, isIpv4: query.readUInt16BE(offset + 1) === 1 };
}

function answerTo(query: Buffer, end: number, addresses: readonly string[] | undefined, isIpv4: boolean): Buffer {
  const given = isIpv4 ? (addresses ?? []) : [];
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  // The flags of an answer to a recursive query. Code 3 says that the name does not exist.
  header.writeUInt16BE(0x8180 | (addresses === undefined ? 3 : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(given.length, 6);
  // Each record points back to the name of the question, is of type A and class IN, and has a lifetime of 0 seconds.
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4];
  const records = given.map((address) => Buffer.from([...record, ...address.split(".").map(Number)]));
  return Buffer.concat([header, query.subarray(12, end), ...records]);
}
