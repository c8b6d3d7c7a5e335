// A service that makes exports. An export is running at the first two requests for it, and done from then on. The export `endless` is never done.
import { createServer } from "node:http";

const askedCounts = new Map();

createServer((request, response) => {
  const [, exportId] = /^\/exports\/([^/]+)$/.exec(request.url) ?? [];
  if (exportId === undefined) {
    response.writeHead(404).end();
    return;
  }
  const askedCount = (askedCounts.get(exportId) ?? 0) + 1;
  askedCounts.set(exportId, askedCount);
  const state = askedCount > 2 && exportId !== "endless" ? "done" : "running";
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ state }));
}).listen(8090, "localhost", () => process.stdout.write("The exports are at http://localhost:8090.\n"));
