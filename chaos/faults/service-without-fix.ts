import { registerHooks } from "node:module";
import { type Replacement, replacedSources, serverSources } from "./replacement.ts";

/**
 * `node service-without-fix.ts REPLACEMENTS dev|serve` runs the command `dev` or `serve` of the command line over a changed server. REPLACEMENTS is
 * JSON that says which texts of the server's sources are replaced. The server runs from its sources, since the texts are in them.
 */
const [json = "[]", command] = process.argv.slice(2);
const sources = replacedSources(JSON.parse(json) as Replacement[]);
const server = new URL("index.ts", serverSources).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@stepwell/server" ? { url: server, shortCircuit: true } : next(specifier, context),
  load(url, context, next) {
    const source = sources.get(url);
    return source === undefined ? next(url, context) : { format: "module-typescript", source, shortCircuit: true };
  },
});

// The command line is loaded only now, because the hooks apply only to modules that are loaded after them.
const { dev } = await import("../../packages/cli/dist/dev/dev.js");
const { serve } = await import("../../packages/cli/dist/dev/serve.js");
await (command === "serve" ? serve() : dev());
