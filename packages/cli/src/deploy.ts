import { readFileSync } from "node:fs";
import type { StepwellClient } from "@stepwell/client";
import { connect } from "./connection.ts";
import { print } from "./terminal.ts";

export async function deploy(file: string, options: { tag: string }): Promise<void> {
  const { client, organizationId } = await connect();
  const version = await client.deploy(organizationId, readFileSync(file, "utf8"), options.tag);
  for (const warning of version.warnings) print(`warning: ${warning.pointer} ${warning.detail}`);
  print(outcomeOf(version));
}

function outcomeOf({ versionNumber, versionId, tag, created, isTagMoved }: Deployed): string {
  const version = `version ${versionNumber} (${versionId})`;
  if (created) return `${version} is ${tag}`;
  const unchanged = `unchanged: the definition is that of ${version}`;
  return isTagMoved ? `${unchanged}, which is ${tag} now` : `${unchanged}, which is ${tag} already`;
}

type Deployed = Awaited<ReturnType<StepwellClient["deploy"]>>;
