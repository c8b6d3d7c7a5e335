import { execFileSync } from "node:child_process";
import { join } from "node:path";

const names = ["client", "server", "cli"] as const;

/** Packs the built packages into a directory. Returns their files. */
export function pack(directory: string, root = "."): Record<(typeof names)[number], string> {
  // The packages were just built, so their `prepack` need not run.
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory];
  const workspaces = names.flatMap((name) => ["--workspace", `packages/${name}`]);
  const printed = execFileSync("npm", [...words, ...workspaces], { cwd: root, encoding: "utf8" });
  const [client, server, cli] = printed.trim().split("\n");
  if (client === undefined || server === undefined || cli === undefined)
    throw new Error(`npm packed something other than three packages: ${printed}`);
  return { client: join(directory, client), server: join(directory, server), cli: join(directory, cli) };
}
