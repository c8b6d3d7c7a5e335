import { EventEmitter } from "node:events";
import type { PGlite } from "@electric-sql/pglite";

/** Runs an exchange, and cancels it when it takes too long. */
type Timed = <Result>(exchange: () => Result) => Result;

/**
 * A socket for node-postgres with PGlite at the other end. Messages that are written right after each other go to PGlite in one call, because a
 * statement is four or five messages, and the statements of a transaction often come together. PGlite's own adapter makes a call for each message,
 * and parses each answer before the driver does. The socket gives a fifth more jobs per second (docs/internals/decisions/store.md).
 */
export class EmbeddedSocket extends EventEmitter {
  readonly #pglite: PGlite;
  readonly #timed: Timed;
  readonly #onPanic: (reason: string) => void;
  #written: Uint8Array[] = [];
  writable = true;

  /** `onPanic` is called after PostgreSQL panicked. A server would end then. PGlite keeps running, but must not be used any more. */
  constructor(pglite: PGlite, timed: Timed, onPanic: (reason: string) => void) {
    super();
    this.#pglite = pglite;
    this.#timed = timed;
    this.#onPanic = onPanic;
  }

  connect(): this {
    queueMicrotask(() => this.emit("connect"));
    return this;
  }

  write(bytes: Uint8Array, written?: () => void): boolean {
    if (this.#written.push(bytes) === 1) queueMicrotask(() => this.#exchange());
    if (written !== undefined) queueMicrotask(written);
    return true;
  }

  end(): this {
    return this.destroy();
  }

  destroy(): this {
    if (this.writable) queueMicrotask(() => this.emit("close"));
    this.writable = false;
    return this;
  }

  /** This method and the next three do nothing: there is no network connection, and this socket never keeps the process of Node.js running. */
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #exchange(): void {
    const request = this.#written.length === 1 ? this.#written[0] : Buffer.concat(this.#written);
    this.#written = [];
    if (request === undefined) return;
    // The exchange runs to its end before `execProtocolRawStream` returns. The promise is only there to carry an error.
    const answered = this.#timed(() =>
      this.#pglite.execProtocolRawStream(request, {
        syncToFs: false,
        onRawData: (bytes) => {
          // The bytes are a view of PGlite's own memory, which the next call overwrites, so they are copied.
          const answer = Buffer.from(bytes);
          const panicAt = answer.indexOf(panic);
          if (panicAt >= 0) this.#onPanic(messageAfter(answer, panicAt));
          this.emit("data", answer);
        },
      }),
    );
    answered.catch((error: unknown) => this.emit("error", error));
  }
}

/**
 * Matches the severity in an error message. It is there twice: after V it is in English, and after S in the server's language, which here is English
 * too. A row cannot match, because its values are text without zero bytes.
 */
const panic = Buffer.from("SPANIC\0VPANIC\0");

function messageAfter(answer: Buffer, start: number): string {
  return /\0M([^\0]*)\0/.exec(answer.toString("utf8", start, start + 1_000))?.[1] ?? "no reason was given";
}
