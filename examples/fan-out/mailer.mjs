// A mail service that is busy at the first message for `bob`, and does not know `nobody`. If a request is repeated with the same
// `Idempotency-Key`, nothing is sent again. GET /messages shows what was sent.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const sent = new Map();
const keys = new Set();
let wasBusy = false;

createServer(async (request, response) => {
  const [, , name] = request.url.split("/");
  const { status, body } = request.method === "GET" ? list() : take(request, name, await json(request));
  response.writeHead(status, { "content-type": "application/json" }).end(body && JSON.stringify(body));
}).listen(8093, "localhost", () => process.stdout.write("The mail service is at http://localhost:8093.\n"));

function list() {
  return { status: 200, body: [...sent].sort().map(([name, { text, number }]) => `${number} ${name}: ${text}`) };
}

function take(request, name, message) {
  if (name === "nobody") return { status: 404 };
  if (name === "bob" && !wasBusy) {
    wasBusy = true;
    return { status: 503 };
  }
  const key = request.headers["idempotency-key"];
  if (!keys.has(key)) sent.set(name, message);
  keys.add(key);
  return { status: 202 };
}
