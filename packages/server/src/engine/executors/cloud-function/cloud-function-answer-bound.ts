import { pipeline, Readable, Transform } from "node:stream";
import type { LambdaClient } from "@aws-sdk/client-lambda";

/**
 * Stops reading an answer at `maxBytes`. Lambda itself sends 6 MB at most. But an endpoint need not be Lambda, and the SDK collects whatever arrives.
 */
export function boundAnswers(client: LambdaClient, maxBytes: number): void {
  client.middlewareStack.add(
    (next) => async (request) => {
      const result = await next(request);
      const { response } = result;
      if (hasBodyStream(response)) response.body = boundedStream(response.body, maxBytes);
      return result;
    },
    // The bound is set directly at the socket, where the bytes arrive before the SDK collects the body.
    { name: "boundAnswers", step: "deserialize", priority: "low" },
  );
}

export class AnswerTooLargeError extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The answer is larger than ${maxBytes} bytes.`);
    this.name = "AnswerTooLargeError";
    this.maxBytes = maxBytes;
  }
}

function hasBodyStream(response: unknown): response is { body: Readable } {
  return typeof response === "object" && response !== null && "body" in response && response.body instanceof Readable;
}

function boundedStream(body: Readable, maxBytes: number): Readable {
  let byteCount = 0;
  const bound = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      byteCount += chunk.byteLength;
      if (byteCount > maxBytes) done(new AnswerTooLargeError(maxBytes));
      else done(null, chunk);
    },
  });
  // `pipeline` is used because `pipe` would lose the error of a connection that breaks halfway, and leave the socket open.
  return pipeline(body, bound, () => {});
}
