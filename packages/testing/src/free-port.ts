import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Returns a port on which no program listens. The port is below the range that systems use for outgoing connections. Otherwise a client could take
 * the port of a service that is killed, before the service is started again.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
  throw new Error("No free port found.");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
