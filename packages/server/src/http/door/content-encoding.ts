import type { FastifyReply } from "fastify";

/** Whether a client takes answers in this encoding, by its Accept-Encoding. */
export function takesEncoding(accepted: string | readonly string[] | undefined, encoding: string): boolean {
  return String(accepted ?? "")
    .split(",")
    .some((part) => part.split(";")[0]?.trim().toLowerCase() === encoding && !/;\s*q=0(\.0*)?\s*$/.test(part));
}

/** Adds a header of the request on which the answer depends to those that are named already. */
export function addVary(reply: FastifyReply, header: string): void {
  reply.header("vary", [reply.getHeader("vary"), header].filter(Boolean).join(", "));
}
