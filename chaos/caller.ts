import { type Answer, Connection } from "../bench/connection.ts";
import type { Outcome } from "./operation.ts";
import { pick } from "./random.ts";

/** Sends one request after the other and returns the outcome of each. After a connection is lost, it opens a new one. */
export class Caller {
  readonly #ports: readonly number[];
  readonly #timeoutMs: number;
  #connection: Connection | undefined;
  #isBusy = false;

  /** `ports` are the ports of the nodes; each new connection goes to one of them at random. */
  constructor(ports: readonly number[], timeoutMs: number) {
    this.#ports = ports;
    this.#timeoutMs = timeoutMs;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** `read` returns the part of an answer that is recorded. */
  async ask<Body, Result>(request: string, read: (body: Body) => Result): Promise<Outcome<Result>> {
    this.#isBusy = true;
    try {
      if (!this.#connection?.isOpen) this.#connection = await Connection.open(pick(this.#ports), this.#timeoutMs);
      return outcomeOf(await this.#connection.ask(request), read);
    } catch (error) {
      return { type: "info", reason: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#isBusy = false;
    }
  }

  close(): void {
    this.#connection?.close();
  }
}

function outcomeOf<Body, Result>({ status, body }: Answer, read: (body: Body) => Result): Outcome<Result> {
  const text = body.toString();
  if (status >= 500) return { type: "info", reason: `${serverErrorMark} ${status}: ${text}` };
  const parsed = JSON.parse(text) as unknown;
  if (status < 300) return { type: "ok", answer: read(parsed as Body) };
  const { code } = parsed as { readonly code?: string };
  return { type: "rejected", httpStatus: status, code: code ?? "without a code" };
}

/** If the service answered, but the outcome is unknown, the `reason` of the outcome begins with these words, followed by the status. */
export const serverErrorMark = "The service answered";
