import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Packs the built packages into a directory. Answers their files. */
export function pack(directory: string, root = "."): Record<"client" | "server" | "cli", string> {
  const file = (name: string) => {
    // The packages were just built, so their `prepack` need not run.
    const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory];
    const printed = execFileSync("npm", [...words, "--workspace", `packages/${name}`], { cwd: root, encoding: "utf8" });
    return join(directory, printed.trim());
  };
  return { client: file("client"), server: file("server"), cli: file("cli") };
}
