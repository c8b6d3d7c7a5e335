import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

interface Session {
  readonly pid: number;
  readonly statements: Set<string>;
}

interface Behaviour {
  /** Whether a client keeps its session only for one transaction. */
  readonly sharesSessions: boolean;
  /** Whether a statement that a client prepared is known in every session that the client gets. */
  readonly keepsStatements: boolean;
}

/**
 * Stands in for a connection pooler in front of a server with two sessions: it answers in PostgreSQL's protocol as such a pooler would. The session
 * that was given back last is given out first.
 */
export class ScriptedPooler {
  readonly #server: Server;
  readonly #free: Session[] = [101, 102].map((pid) => ({ pid, statements: new Set() }));
  readonly #behaviour: Behaviour;

  private constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(behaviour: Behaviour): Promise<ScriptedPooler> {
    const pooler = new ScriptedPooler(behaviour);
    pooler.#server.listen(0, "127.0.0.1");
    await once(pooler.#server, "listening");
    return pooler;
  }

  get url(): string {
    return `postgres://u@127.0.0.1:${(this.#server.address() as AddressInfo).port}/d`;
  }

  stop(): void {
    this.#server.close();
  }

  #serve(socket: Socket): void {
    let session: Session | undefined;
    let isInTransaction = false;
    let failed = false;
    const take = () => {
      session ??= this.#free.pop();
      if (session === undefined) throw new Error("No session is free.");
      return session;
    };
    const ready = () => {
      if (session !== undefined && this.#behaviour.sharesSessions && !isInTransaction) {
        this.#free.push(session);
        session = undefined;
      }
      socket.write(message("Z", Buffer.from(isInTransaction ? "T" : "I")));
    };
    const answerPid = ({ pid }: Session) => socket.write(Buffer.concat([pidColumn, pidRow(pid), done("SELECT 1")]));
    const handle: Record<string, (body: string) => void> = {
      Q: (text) => {
        if (text.startsWith("BEGIN")) isInTransaction = true;
        if (text.startsWith("ROLLBACK")) isInTransaction = false;
        const taken = take();
        if (text.startsWith("SELECT")) answerPid(taken);
        else socket.write(done("OK"));
        ready();
      },
      P: (body) => {
        take().statements.add(body.split("\0")[0] ?? "");
        socket.write(message("1", Buffer.alloc(0)));
      },
      B: (body) => {
        const name = body.split("\0")[1] ?? "";
        failed = !this.#behaviour.keepsStatements && !take().statements.has(name);
        socket.write(failed ? unknownStatement : message("2", Buffer.alloc(0)));
      },
      E: () => {
        if (!failed) answerPid(take());
      },
      S: () => {
        failed = false;
        ready();
      },
    };
    socket.once("data", () => {
      socket.write(Buffer.concat([message("R", int32(0)), message("K", Buffer.concat([int32(7), int32(8)]))]));
      ready();
      socket.on("data", (chunk) => {
        for (let at = 0; at < chunk.length; at += 1 + chunk.readInt32BE(at + 1)) {
          const type = chunk.toString("latin1", at, at + 1);
          handle[type]?.(chunk.toString("latin1", at + 5, at + 1 + chunk.readInt32BE(at + 1)));
        }
      });
    });
    socket.on("close", () => {
      if (session !== undefined) this.#free.push(session);
    });
    socket.on("error", () => {});
  }
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function done(tag: string): Buffer {
  return message("C", Buffer.from(`${tag}\0`));
}

/** One column `pid`, an int4 as text. */
const pidColumn = message(
  "T",
  Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.from("pid\0"),
    int32(0),
    Buffer.from([0, 0]),
    int32(23),
    Buffer.from([0, 4]),
    int32(-1),
    Buffer.from([0, 0]),
  ]),
);

function pidRow(pid: number): Buffer {
  return message("D", Buffer.concat([Buffer.from([0, 1]), int32(3), Buffer.from(String(pid))]));
}

const unknownStatement = message("E", Buffer.from("SERROR\0C26000\0Mprepared statement does not exist\0\0"));
