// Two carriers. North answers at once and carries up to 20 kg. South answers after a second and carries up to 100 kg.
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const kilograms = Number(searchParams.get("kilograms"));
  const { limit, price } = await offerOf(pathname, kilograms);
  response.writeHead(kilograms > limit ? 422 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(kilograms > limit ? { error: `At most ${limit} kg.` } : { price }));
}).listen(8094, "localhost", () => process.stdout.write("The carriers are at http://localhost:8094.\n"));

async function offerOf(pathname, kilograms) {
  if (pathname === "/north") return { limit: 20, price: 5 + kilograms };
  await setTimeout(1000);
  return { limit: 100, price: 3 + kilograms };
}
