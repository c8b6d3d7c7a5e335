import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { sizeOfJson } from "../../../core/json/json-size.ts";
import { JsonText, type ShownValue } from "../../../core/json/json-text.ts";

/**
 * Prepares a body that may be large; the handler returns the result. Writing 16 MB at once would hold up all other requests for a tenth of a second.
 * So a large body is written in pieces. If several such answers are under way, they share the turns of the event loop: each turn writes one piece.
 */
export async function largeAnswer<Body extends object>(reply: FastifyReply, body: Body): Promise<Body> {
  return isSmall(body, pieceSize) ? body : (inPieces(reply, await jsonInTurns(body)) as unknown as Body);
}

/**
 * Sends pieces of JSON text one after the other, as fast as the client takes them. The header `content-length` tells the client
 * whether it got all of them.
 */
export function inPieces(reply: FastifyReply, pieces: readonly Buffer[]): Readable {
  reply.type("application/json; charset=utf-8").header("content-length", lengthOf(pieces));
  return Readable.from(pieces);
}

/** Returns the length in bytes. */
export function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** Writes the value as JSON text in UTF-8, in pieces of about `maxPiece` characters. */
export async function jsonInTurns(value: unknown, maxPiece = pieceSize): Promise<Buffer[]> {
  const written: Buffer[] = [];
  let texts: string[] = [];
  let length = 0;
  const write = async () => {
    await nextTurn();
    written.push(Buffer.from(texts.join("")));
    texts = [];
    length = 0;
  };
  for (const text of textsOf(value, maxPiece)) {
    texts.push(text);
    length += text.length;
    if (length > maxPiece) await write();
  }
  await write();
  return written;
}

/** The rough length of a piece, in characters. A piece with a single long string, or with a value that is text already, may be much longer. */
const pieceSize = 200_000;

function isSmall(value: unknown, maxPiece: number): boolean {
  return sizeOfJson(value as ShownValue, maxPiece) <= maxPiece;
}

/** Yields texts that together are what JSON.stringify writes. */
function* textsOf(value: unknown, maxPiece: number): Generator<string> {
  if (value instanceof JsonText) yield value.text;
  else if (isWrittenAtOnce(value, maxPiece)) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* textsOfList(value, maxPiece);
  else yield* textsOfMembers(value as object, maxPiece);
}

function* textsOfList(list: readonly unknown[], maxPiece: number): Generator<string> {
  let opening = "[";
  for (const run of runsOf(list, maxPiece)) {
    yield opening;
    if (run.length > 1) yield JSON.stringify(run).slice(1, -1);
    else yield* textsOf(run[0] ?? null, maxPiece);
    opening = ",";
  }
  yield "]";
}

/**
 * Divides a list into runs. A run is small, or it is a single item. `JSON.stringify` writes a small run as a whole, because writing each of 400,000
 * numbers by itself takes five times as long.
 */
function* runsOf(list: readonly unknown[], maxPiece: number): Generator<readonly unknown[]> {
  let first = 0;
  let size = 0;
  for (const [index, item] of list.entries()) {
    // A value that is text already is a run of its own, because JSON.stringify would parse it.
    const itemSize = item instanceof JsonText ? maxPiece : sizeOfJson(item as ShownValue, maxPiece);
    if (index > first && size + itemSize > maxPiece) {
      yield list.slice(first, index);
      first = index;
      size = 0;
    }
    size += itemSize;
  }
  yield list.slice(first);
}

/**
 * Collects small members in one text. To yield a text for each of 50,000 members, or to list all members first, would double the time that
 * `JSON.stringify` takes for them.
 */
function* textsOfMembers(value: object, maxPiece: number): Generator<string> {
  let text = "";
  let opening = "{";
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    text += `${opening}${JSON.stringify(name)}:`;
    opening = ",";
    if (isWrittenAtOnce(member, maxPiece)) text += JSON.stringify(member);
    else {
      yield text;
      text = "";
      yield* textsOf(member, maxPiece);
    }
    if (text.length > maxPiece) {
      yield text;
      text = "";
    }
  }
  yield `${text}${opening === "{" ? "{}" : "}"}`;
}

function isWrittenAtOnce(value: unknown, maxPiece: number): boolean {
  if (value instanceof JsonText) return false;
  return typeof value !== "object" || value === null || isSmall(value, maxPiece);
}

/** Waits for a turn of the event loop. Each turn lets one waiting caller continue. */
function nextTurn(): Promise<void> {
  turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));
  return turns;
}

let turns = Promise.resolve();
