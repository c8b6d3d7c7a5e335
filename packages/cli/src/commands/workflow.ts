import { type Command, Option } from "commander";
import { type Connection, connect, type Place } from "../connection/connection.ts";
import { CommandError } from "../exit-code.ts";
import { isId } from "../id.ts";
import { withLimit } from "../option.ts";
import { ageOf } from "../output/age.ts";
import { listed } from "../output/listed.ts";
import { list, table } from "../output/table.ts";
import { show } from "../output/terminal.ts";
import { type NamedVersion, parseVersion, versionIdOf } from "./version.ts";

export function declareWorkflow(program: Command): void {
  const workflow = program.command("workflow").description("look at workflows and their versions");
  withLimit(workflow.command("list").description("list the workflows and their tags")).action(listWorkflows);
  workflow
    .command("show")
    .argument("<workflow>", "its name or its id")
    .option("--tag <tag>", "with --definition: print the definition of the version with this tag", "$LIVE")
    .addOption(
      new Option("--version <version>", "print the definition of this version: its number or its id")
        .argParser(parseVersion)
        .conflicts("tag")
        .implies({ definition: true }),
    )
    .option("--definition", "print only the definition, as it was deployed")
    .description("show a workflow and where its tags point")
    .action(showWorkflow);
  withLimit(workflow.command("versions").argument("<workflow>", "its name or its id"))
    .description("list the versions of a workflow, the newest first")
    .action(listVersions);
}

export async function workflowIdOf(connection: Connection, workflow: string): Promise<string> {
  return isId(workflow) ? workflow : (await namedWorkflow(connection, workflow)).workflowId;
}

async function namedWorkflow({ client, organizationId }: Connection, name: string) {
  const found = await client.findWorkflow(organizationId, name);
  if (found === undefined) throw new CommandError("notFound", `There is no workflow named ${name}.`);
  return found;
}

async function listWorkflows({ limit, ...place }: Place & { readonly limit: number }): Promise<void> {
  const { client, organizationId } = await connect(place);
  const path = { organizationId };
  const workflows = await listed(limit, (pageSize) => client.list("ListWorkflows", { path, query: { pageSize } }));
  const rows = workflows.map(({ name, workflowId, tags, createdAt }) => [
    name,
    workflowId,
    tagsOf(tags),
    ageOf(createdAt),
  ]);
  const none =
    "There is no workflow yet. `stepwell sample` prints a definition, and `stepwell deploy FILE` registers it.";
  const text = rows.length === 0 ? none : table(["WORKFLOW", "ID", "TAGS", "AGE"], rows);
  show({ value: workflows, text, quiet: workflows.map(({ name }) => name) });
}

interface ShowOptions extends Place {
  readonly tag: string;
  readonly version?: NamedVersion;
  readonly definition?: boolean;
}

async function showWorkflow(named: string, { tag, version, definition, ...place }: ShowOptions): Promise<void> {
  const connection = await connect(place);
  const { client, organizationId } = connection;
  const workflowId = await workflowIdOf(connection, named);
  if (definition === true) {
    const path = { organizationId, workflowId };
    const shown =
      version === undefined
        ? await client.call("GetTaggedWorkflowVersion", { path: { ...path, tag } })
        : await client.getVersion(organizationId, workflowId, await versionIdOf(connection, workflowId, version));
    return show({ value: shown, text: shown.definition, quiet: shown.definition });
  }
  const workflow = await client.call("GetWorkflow", { path: { organizationId, workflowId } });
  const facts = list({ id: workflow.workflowId, created: workflow.createdAt, tags: tagsOf(workflow.tags) });
  show({ value: workflow, text: `Workflow ${workflow.name}\n${facts}`, quiet: workflow.workflowId });
}

async function listVersions(named: string, { limit, ...place }: Place & { readonly limit: number }): Promise<void> {
  const connection = await connect(place);
  const { client, organizationId } = connection;
  const path = { organizationId, workflowId: await workflowIdOf(connection, named) };
  const versions = await listed(limit, (pageSize) =>
    client.list("ListWorkflowVersions", { path, query: { pageSize } }),
  );
  const rows = versions.map(({ versionNumber, versionId, tags, createdAt }) => [
    String(versionNumber),
    versionId,
    tags.join(", ") || "-",
    ageOf(createdAt),
  ]);
  const text = rows.length === 0 ? "The workflow has no version yet." : table(["VERSION", "ID", "TAGS", "AGE"], rows);
  show({ value: versions, text, quiet: versions.map(({ versionId }) => versionId) });
}

function tagsOf(tags: readonly { readonly tag: string; readonly versionNumber: number }[]): string {
  return tags.map(({ tag, versionNumber }) => `${tag} → ${versionNumber}`).join(", ") || "-";
}
