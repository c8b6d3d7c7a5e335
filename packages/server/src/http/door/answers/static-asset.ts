import { hash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { addVary, takesEncoding } from "./content-encoding.ts";

/** A file that is the same for all callers. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  /** The compressed encodings in which the file is also available. */
  readonly encodings: ReadonlySet<string>;
  read(encoding: "br" | "gzip" | undefined): Buffer;
}

/** Sends an asset in the smallest encoding that the client accepts, or says that the client has it already. */
export function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
  cacheControl: string,
): FastifyReply {
  reply.headers({ "cache-control": cacheControl, etag: asset.etag });
  addVary(reply, "Accept-Encoding");
  if (request.headers["if-none-match"] === asset.etag) return reply.code(304).send();
  const accepted = request.headers["accept-encoding"];
  const encoding = (["br", "gzip"] as const).find((one) => asset.encodings.has(one) && takesEncoding(accepted, one));
  if (encoding !== undefined) reply.header("content-encoding", encoding);
  return reply.type(asset.type).send(asset.read(encoding));
}

/** Makes an asset of a text that only the running service knows. The text is compressed once for each encoding, at the first request for it. */
export function assetOfText(type: string, text: string): Asset {
  const content = Buffer.from(text);
  const packed = new Map<string, Buffer>();
  return {
    type,
    etag: etagOfContent(content),
    encodings: new Set(["br", "gzip"]),
    read(encoding) {
      if (encoding === undefined) return content;
      const found = packed.get(encoding) ?? (encoding === "br" ? packedByBrotli(content) : gzipSync(content));
      packed.set(encoding, found);
      return found;
    },
  };
}

export function etagOfContent(content: Buffer): string {
  return `"${hash("sha256", content, "base64url").slice(0, 22)}"`;
}

/** The default quality would make the API document smaller by an eighth, but would take two seconds, in which no other request is answered. */
function packedByBrotli(content: Buffer): Buffer {
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}
