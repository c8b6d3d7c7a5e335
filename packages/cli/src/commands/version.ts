import { InvalidArgumentError } from "commander";
import type { Connection } from "../connection/connection.ts";
import { CommandError } from "../exit-code.ts";
import { isId } from "../id.ts";

/** A version as a command line names it: by its number within the workflow, or by its id. */
export type NamedVersion = { readonly versionNumber: number } | { readonly versionId: string };

export function parseVersion(text: string): NamedVersion {
  if (isId(text)) return { versionId: text.toLowerCase() };
  const versionNumber = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
  if (versionNumber === undefined) throw new InvalidArgumentError("Give the number or the id of a version.");
  return { versionNumber };
}

/**
 * Returns the id of a version. No path of the API takes a version number, so a number is looked up in the list, newest first.
 */
export async function versionIdOf(
  { client, organizationId }: Connection,
  workflowId: string,
  version: NamedVersion,
): Promise<string> {
  if ("versionId" in version) return version.versionId;
  for await (const { versionId, versionNumber } of client.listVersions(organizationId, workflowId))
    if (versionNumber === version.versionNumber) return versionId;
  throw new CommandError("notFound", `The workflow has no version ${version.versionNumber}.`);
}
