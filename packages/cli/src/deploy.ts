import { readFileSync } from "node:fs";
import { connect } from "./connection.ts";
import { print } from "./terminal.ts";

export async function deploy(file: string, options: { tag: string }): Promise<void> {
  const { client, organizationId } = await connect();
  const version = await client.deploy(organizationId, readFileSync(file, "utf8"), options.tag);
  for (const warning of version.warnings) print(`warning: ${warning.pointer} ${warning.detail}`);
  print(`version ${version.versionNumber} (${version.versionId}) is ${version.tag}`);
}
