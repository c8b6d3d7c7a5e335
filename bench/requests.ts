import type { Answer } from "./connection.ts";

/** Writes complete requests, with head and body, for `Connection.ask`. */
export class RequestWriter {
  readonly #headers: string;

  constructor(port: number, token: string) {
    this.#headers = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`;
  }

  get(path: string): string {
    return `GET ${path} HTTP/1.1\r\n${this.#headers}\r\n`;
  }

  post(path: string, body?: unknown, idempotencyKey?: string | null): string {
    const key = idempotencyKey ? `Idempotency-Key: ${idempotencyKey}\r\n` : "";
    const head = `POST ${path} HTTP/1.1\r\n${this.#headers}${key}`;
    if (body === undefined) return `${head}Content-Length: 0\r\n\r\n`;
    const text = JSON.stringify(body);
    return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  }
}

export function jobIdIn(answer: Answer): string {
  const { body } = requireStatus(answer, 200, 201);
  const start = body.indexOf('"jobId":"');
  if (start === -1) throw unexpected(answer, "It names no job.");
  return body.toString("latin1", start + 9, start + 9 + uuidLength);
}

/** Expects an answer with a job, or with the summary that a submission returns. */
export function hasSucceeded(answer: Answer): boolean {
  return jobStatusIn(answer) === "SUCCEEDED";
}

/** Throws an error with the whole answer unless the job of this answer has succeeded. */
export function requireSuccess(answer: Answer): void {
  if (!hasSucceeded(answer)) throw unexpected(answer, "The job has not succeeded.");
}

export function requireStatus(answer: Answer, ...wanted: readonly number[]): Answer {
  if (!wanted.includes(answer.status)) throw unexpected(answer, `Status ${wanted.join(" or ")} was expected.`);
  return answer;
}

/**
 * Returns the status of the job, and not that of a step. It usually stands at a known place near the beginning of the text. Parsing every answer
 * would cost the load as much processor time as all its other work, so only answers with another beginning are parsed.
 */
function jobStatusIn(answer: Answer): unknown {
  const { body } = requireStatus(answer, 200, 201);
  if (startsWithStatus(body)) return body.toString("latin1", statusAt, body.indexOf('"', statusAt));
  return (JSON.parse(body.toString()) as { readonly status?: unknown }).status;
}

const uuidLength = 36;
const statusField = '","status":"';
const statusAt = '{"jobId":"'.length + uuidLength + statusField.length;

function startsWithStatus(body: Buffer): boolean {
  return (
    body.toString("latin1", 0, 10) === '{"jobId":"' &&
    body.toString("latin1", statusAt - statusField.length, statusAt) === statusField
  );
}

function unexpected(answer: Answer, why: string): Error {
  return new Error(`${why} The service answered ${answer.status}: ${answer.body.toString()}`);
}
