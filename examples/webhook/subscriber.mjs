// A subscriber of webhooks. It is busy at the first attempt of a delivery, and accepts the second one. The subscriber at /gone no longer exists.
import { createServer } from "node:http";

const seen = new Set();

createServer((request, response) => {
  request.resume();
  const key = request.headers["idempotency-key"];
  if (request.url === "/gone") response.writeHead(410);
  else if (seen.has(key)) response.writeHead(204);
  else response.writeHead(503, { "retry-after": "2" });
  seen.add(key);
  response.end();
}).listen(8091, "localhost", () => process.stdout.write("The subscriber is at http://localhost:8091.\n"));
