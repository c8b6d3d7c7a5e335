// A travel agency where the customer chooses the numbers of the bookings. PUT /flights/17 books a flight under the number 17, and repeating the
// request books nothing again. DELETE cancels a number for good: a later booking under it is rejected. Hotels have rooms for up to 30 nights.
// GET /bookings shows the bookings.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const bookings = new Map();
const cancelled = new Set();

createServer(async (request, response) => {
  const { status, body = {} } = await answerTo(request);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}).listen(8095, "localhost", () => process.stdout.write("The travel agency is at http://localhost:8095.\n"));

async function answerTo(request) {
  const { method, url } = request;
  if (method === "GET") return { status: 200, body: [...bookings.values()].sort() };
  if (method === "DELETE") {
    cancelled.add(url);
    return { status: bookings.delete(url) ? 200 : 404 };
  }
  const { traveller, nights = 1 } = await json(request);
  if (cancelled.has(url)) return { status: 410 };
  if (nights > 30) return { status: 409 };
  bookings.set(url, `${url.split("/")[1]}: ${traveller}`);
  return { status: 201 };
}
