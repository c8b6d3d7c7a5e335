import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Connection } from "./connection.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

test("an answer may come in any number of pieces", async () => {
  const connection = await connectTo((socket) => {
    const text = "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nhello";
    for (const byte of text) socket.write(byte);
  });
  const answers = [await connection.ask("one"), await connection.ask("two")];
  expect(answers.map(({ status, body }) => [status, body.toString()])).toEqual([
    [201, "hello"],
    [201, "hello"],
  ]);
});

test("an answer with status 204 needs no length", async () => {
  const connection = await connectTo((socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
  expect((await connection.ask("one")).status).toBe(204);
});

test("a request fails if its connection breaks before the whole answer has arrived", async () => {
  const connection = await connectTo((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
  await expect(connection.ask("one")).rejects.toThrow("closed");
  expect(connection.isOpen).toBe(false);
  await expect(connection.ask("two")).rejects.toThrow("closed");
});

test("an answer that is longer than it says is refused", async () => {
  const connection = await connectTo((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nlonger"));
  await expect(connection.ask("one")).rejects.toThrow("longer");
});

test("a connection is closed after an answer that announces this", async () => {
  const head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n";
  const connection = await connectTo((socket) => socket.write(`${head}ok`));
  expect((await connection.ask("one")).body.toString()).toBe("ok");
  expect(connection.isOpen).toBe(false);
});

test("a connection is given up if an answer does not come in time", async () => {
  const connection = await connectTo(() => {}, 50);
  await expect(connection.ask("one")).rejects.toThrow("No answer within 0.05 s");
  expect(connection.isOpen).toBe(false);
});

async function connectTo(answer: (socket: Socket) => unknown, timeoutMs = 5_000): Promise<Connection> {
  const server = createServer((socket) => socket.on("data", () => answer(socket)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const connection = await Connection.open((server.address() as AddressInfo).port, timeoutMs);
  open.push(connection, server);
  return connection;
}
