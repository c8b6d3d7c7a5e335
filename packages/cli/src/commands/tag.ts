import { type components, isNotFound } from "@stepwell/client";
import type { Command } from "commander";
import { type Connection, connect, type Place } from "../connection/connection.ts";
import { withLimit } from "../option.ts";
import { ageOf } from "../output/age.ts";
import { listed } from "../output/listed.ts";
import { table } from "../output/table.ts";
import { show } from "../output/terminal.ts";
import { type NamedVersion, parseVersion, versionIdOf } from "./version.ts";
import { workflowIdOf } from "./workflow.ts";

export function declareTag(program: Command): void {
  const tag = program.command("tag").description("tags of workflows: names such as $LIVE that point at a version");
  withLimit(tag.command("list").argument("<workflow>", ofWorkflow))
    .description("list the tags of a workflow and where they point")
    .action(listTags);
  tag
    .command("set")
    .argument("<workflow>", ofWorkflow)
    .argument("<tag>", inShell)
    .requiredOption("--version <version>", "the version to point at: its number or its id", parseVersion)
    .description("point a tag at a version, for example back at an earlier one; creates the tag if there is none")
    .action(setTag);
  withLimit(tag.command("history").argument("<workflow>", ofWorkflow).argument("<tag>", inShell))
    .description("list where a tag has pointed, and who moved it, the newest change first")
    .action(listHistory);
  tag
    .command("delete")
    .argument("<workflow>", ofWorkflow)
    .argument("<tag>", inShell)
    .description("delete a tag; the version stays")
    .action(deleteTag);
}

const ofWorkflow = "a workflow's name or id";
const inShell = "the tag; in a shell, quote one that begins with a dollar sign: '$LIVE'";

async function listTags(workflow: string, { limit, ...place }: Place & { readonly limit: number }): Promise<void> {
  const { client, path } = await workflowAt(workflow, place);
  const tags = await listed(limit, (pageSize) => client.list("ListTags", { path, query: { pageSize } }));
  const rows = tags.map(({ tag, versionNumber, versionId, updatedAt, updatedBy }) => [
    tag,
    String(versionNumber),
    versionId,
    ageOf(updatedAt),
    describeActor(updatedBy),
  ]);
  const text =
    rows.length === 0 ? "The workflow has no tag yet." : table(["TAG", "VERSION", "ID", "SINCE", "BY"], rows);
  show({ value: tags, text, quiet: tags.map(({ tag }) => tag) });
}

async function setTag(
  workflow: string,
  tag: string,
  { version, ...place }: Place & { readonly version: NamedVersion },
) {
  const { client, path, ...connection } = await workflowAt(workflow, place);
  const versionId = await versionIdOf({ ...connection, client }, path.workflowId, version);
  const before = await client.call("GetTaggedWorkflowVersion", { path: { ...path, tag } }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const isThere = before?.versionId === versionId;
  const { versionNumber } = isThere
    ? before
    : await client.call("SetWorkflowVersionTag", { path: { ...path, tag }, body: { versionId } });
  const now = `${tag} is version ${versionNumber} (${versionId})`;
  const after = before === undefined ? now : `${now}; it was version ${before.versionNumber}`;
  const text = isThere ? `unchanged: ${now} already.` : `${after}.`;
  show({ value: { tag, versionId, versionNumber, isTagMoved: !isThere }, text, quiet: versionId });
}

interface HistoryOptions extends Place {
  readonly limit: number;
}

async function listHistory(workflow: string, tag: string, { limit, ...place }: HistoryOptions): Promise<void> {
  const { client, path } = await workflowAt(workflow, place);
  const query = (pageSize: number) => ({ path: { ...path, tag }, query: { pageSize } });
  const changes = await listed(limit, (pageSize) => client.list("ListTagHistory", query(pageSize)));
  const rows = changes.map(({ changedAt, change, versionNumber, versionId, changedBy }) => [
    changedAt,
    change,
    versionNumber === undefined ? "-" : String(versionNumber),
    versionId ?? "-",
    describeActor(changedBy),
  ]);
  const text = rows.length === 0 ? "The tag was never set." : table(["WHEN", "CHANGE", "VERSION", "ID", "BY"], rows);
  show({ value: changes, text, quiet: changes.map(({ versionId }) => versionId ?? "-") });
}

async function deleteTag(workflow: string, tag: string, place: Place): Promise<void> {
  const { client, path } = await workflowAt(workflow, place);
  await client.deleteTag(path.organizationId, path.workflowId, tag);
  show({ value: { tag, deleted: true }, text: `The tag ${tag} is deleted.`, quiet: tag });
}

async function workflowAt(workflow: string, place: Place) {
  const connection: Connection = await connect(place);
  const { organizationId } = connection;
  return { ...connection, path: { organizationId, workflowId: await workflowIdOf(connection, workflow) } };
}

function describeActor({ type, id }: components["schemas"]["Actor"]): string {
  return `${type} ${id}`;
}
