import { once } from "node:events";
import { connect, type Socket } from "node:net";

/**
 * Sends bytes as they are, even bytes that no proper client would send, and returns everything that arrives until the server closes the connection or
 * is quiet.
 */
export async function exchange(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = await open(port);
  for (const part of parts) socket.write(part);
  return await readAll(socket, 1_500);
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Returns everything that arrives until the other side closes the connection, or until nothing has arrived for `quietMs`. */
export async function readAll(socket: Socket, quietMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  socket.setTimeout(quietMs);
  await new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("timeout", resolve);
    socket.on("close", () => resolve());
    socket.on("error", () => resolve());
  });
  socket.destroy();
  return Buffer.concat(chunks).toString("utf8");
}

export function statusOf(response: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1] ?? 0);
}

/** A request with these header lines and this body. A body gets a Content-Length, unless one of the lines has Content-Length or Transfer-Encoding. */
export function requestText(start: string, lines: readonly string[], body = ""): string {
  const saysLength = lines.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const length = saysLength || body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${start} HTTP/1.1`, "Host: localhost", ...lines, ...length, "", body].join("\r\n");
}
