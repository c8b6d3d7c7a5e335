import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { Dispatcher } from "undici";

type Answer = Pick<Dispatcher.ResponseData, "headers" | "body">;

/** Reads and unpacks the body of an answer. Throws as soon as there are more than `maxBytes`, because a few bytes may unpack to gigabytes. */
export async function readBody({ headers, body }: Answer, maxBytes: number): Promise<Buffer> {
  const { bytes, isWhole } = await read(body, maxBytes);
  if (!isWhole) throw new BodyTooLargeError(maxBytes);
  const encoding = String(headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity" || bytes.length === 0) return bytes;
  const unpack = unpackers.get(encoding);
  if (unpack === undefined)
    throw new UnreadableBodyError("has a compression that the service cannot unpack (Content-Encoding)");
  try {
    return await unpack(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw new BodyTooLargeError(maxBytes);
    throw new UnreadableBodyError(`cannot be unpacked from ${encoding}`);
  }
}

/** Reads as much of the beginning of a body as a message can show. Returns no bytes when the body has a Content-Encoding or breaks off. */
export async function beginningOf({ headers, body }: Answer): Promise<Buffer> {
  const { bytes } = await read(body, maxShownBytes).catch(() => ({ bytes: Buffer.alloc(0) }));
  return headers["content-encoding"] === undefined ? bytes : Buffer.alloc(0);
}

/**
 * Thrown when a body, or the output that is made from it, is too large. The message is the end of a sentence that begins with the address that
 * answered.
 */
export class BodyTooLargeError extends Error {
  constructor(maxBytes: number, what = "answered with a body") {
    super(`${what} larger than ${maxBytes} bytes`);
  }
}

/**
 * Thrown when the body arrived completely, but the service cannot unpack or read it, or the store cannot hold its values. The message is the end of
 * a sentence about the body.
 */
export class UnreadableBodyError extends Error {}

const maxShownBytes = 2_048;

const unpackers = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);

async function read(body: Answer["body"], maxBytes: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}
