import type { FastifyReply } from "fastify";

/** Tells whether a client with this Accept-Encoding takes answers in this encoding. */
export function takesEncoding(accepted: string | readonly string[] | undefined, encoding: string): boolean {
  return String(accepted ?? "")
    .split(",")
    .some((part) => part.split(";")[0]?.trim().toLowerCase() === encoding && !/;\s*q=0(\.0*)?\s*$/.test(part));
}

/** Adds to the answer's Vary the name of a request header on which the answer depends. */
export function addVary(reply: FastifyReply, header: string): void {
  reply.header("vary", [reply.getHeader("vary"), header].filter(Boolean).join(", "));
}
