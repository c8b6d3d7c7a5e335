// A travel agency that books flights and hotels, cancels bookings, and takes payments of up to 1000. If a request is repeated with the same
// `Idempotency-Key`, nothing is booked again. GET /bookings shows the bookings.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const bookings = new Map();
const answers = new Map();
let lastId = 0;

createServer(async (request, response) => {
  const key = request.headers["idempotency-key"];
  const answer = answers.get(key) ?? (await answerTo(request));
  if (key !== undefined) answers.set(key, answer);
  response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
}).listen(8092, "localhost", () => process.stdout.write("The travel agency is at http://localhost:8092.\n"));

async function answerTo(request) {
  const [, kind, id] = request.url.split("/");
  if (request.method === "GET" && kind === "bookings") return { status: 200, body: [...bookings.values()] };
  if (request.method === "DELETE") return { status: bookings.delete(Number(id)) ? 200 : 404, body: {} };
  if (request.method !== "POST") return { status: 405, body: {} };
  const body = await json(request);
  if (kind === "payments") return { status: body.amount <= 1000 ? 201 : 402, body: {} };
  lastId += 1;
  bookings.set(lastId, `${kind} ${lastId}`);
  return { status: 201, body: { id: lastId } };
}
