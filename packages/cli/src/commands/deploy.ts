import { isDeepStrictEqual } from "node:util";
import { type StepwellClient, StepwellError } from "@stepwell/client";
import type { Command } from "commander";
import { type Connection, connect, type Place } from "../connection/connection.ts";
import { CommandError } from "../exit-code.ts";
import { readText } from "../input-file.ts";
import { parseTag } from "../option.ts";
import { describeFinding, type Finding, invalidDefinition, tooManyWarnings } from "../output/definition-findings.ts";
import { show, warn } from "../output/terminal.ts";

export function declareDeploy(program: Command): void {
  program
    .command("deploy")
    .argument("<file>", "a workflow definition, as JSON; - for standard input")
    .option("--tag <tag>", "the tag to point at the version", parseTag, "$LIVE")
    .option("--dry-run", "check the definition and say what would happen; change nothing")
    .option("--strict", "treat a warning as an error: deploy nothing if there is one")
    .description("register a definition as a new version of its workflow, unless it is unchanged, and tag the version")
    .action(deploy);
}

interface DeployOptions extends Place {
  readonly tag: string;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
}

async function deploy(file: string, { tag, dryRun = false, strict = false, ...place }: DeployOptions): Promise<void> {
  const text = readText(file);
  const workflowName = await workflowNameIn({ file, text });
  const connection = await connect(place);
  if (dryRun || strict) {
    const workflowId = (await connection.client.findWorkflow(connection.organizationId, workflowName))?.workflowId;
    const warnings = await checked(connection, workflowId, { file, text });
    if (strict && warnings.length > 0) throw new CommandError("failed", tooManyWarnings(file, warnings.length));
    if (dryRun) return await tell(connection, workflowId, { text, tag, warnings });
  }
  const version = await deployText(connection, { file, text }, tag);
  show({ value: version, text: outcomeOf(version), quiet: version.versionId });
}

/** Registers a definition and tags the version. Shows the warnings or throws the errors of the definition, with their places in the file. */
export async function deployText(
  { client, organizationId }: Pick<Connection, "client" | "organizationId">,
  source: Source,
  tag: string,
): Promise<Deployed> {
  const { file, text } = source;
  await workflowNameIn(source);
  const version = await client.deploy(organizationId, text, tag).catch((error: unknown) => {
    const errors = error instanceof StepwellError ? error.errors.filter(isPlaced) : [];
    throw errors.length === 0 ? error : invalidDefinition(file, text, errors);
  });
  showWarnings(file, text, version.warnings);
  return version;
}

/**
 * Returns the name of the workflow that the definition names. The service checks a definition only as a version of a workflow, so a definition
 * without a name cannot be sent to it. Such a definition is checked in this process, and what is wrong with it is thrown.
 */
async function workflowNameIn({ file, text }: Source): Promise<string> {
  const { workflowName } = parsed(text);
  if (typeof workflowName !== "string") throw invalidDefinition(file, text, (await checkHere(text)).errors);
  return workflowName;
}

interface Source {
  readonly file: string;
  readonly text: string;
}

/**
 * Shows and returns the warnings of the definition. If the service has the workflow already, the service checks the definition. If `workflowId` is
 * undefined, the service does not have the workflow yet, so this process checks the definition. Throws when the definition is not valid.
 */
async function checked({ client, organizationId }: Connection, workflowId: string | undefined, { file, text }: Source) {
  const found =
    workflowId === undefined
      ? await checkHere(text)
      : await client.validateDefinition(organizationId, workflowId, text);
  if (found.errors.length > 0) throw invalidDefinition(file, text, found.errors);
  showWarnings(file, text, found.warnings);
  return found.warnings;
}

interface Planned {
  readonly text: string;
  readonly tag: string;
  readonly warnings: readonly Finding[];
}

/** Prints the planned changes of a deployment. */
async function tell(connection: Connection, workflowId: string | undefined, { text, tag, warnings }: Planned) {
  const newest = workflowId === undefined ? undefined : await newestVersion(connection, workflowId);
  const isUnchanged = newest !== undefined && isDeepStrictEqual(parsed(newest.definition), parsed(text));
  const isTagMoved = !isUnchanged || !newest.tags.includes(tag);
  const version = isUnchanged ? `version ${newest.versionNumber}` : `version ${(newest?.versionNumber ?? 0) + 1}`;
  const value = { isValid: true, wouldCreate: !isUnchanged, wouldMoveTag: isTagMoved, tag, warnings };
  const same = `The definition is the same as in ${version}`;
  const unchanged = isTagMoved
    ? `${same}, which would get the tag ${tag}`
    : `${same}, which has the tag ${tag} already`;
  show({
    value,
    text: `Nothing was changed. ${isUnchanged ? unchanged : `The definition would become ${version}, with the tag ${tag}`}.`,
  });
}

async function newestVersion({ client, organizationId }: Connection, workflowId: string) {
  const path = { organizationId, workflowId };
  const [newest] = (await client.call("ListWorkflowVersions", { path, query: { pageSize: 1 } })).versions;
  return newest && (await client.getVersion(organizationId, workflowId, newest.versionId));
}

function parsed(text: string): { readonly workflowName?: unknown } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function showWarnings(file: string, text: string, warnings: readonly Finding[]): void {
  for (const warning of warnings) warn(describeFinding(file, text, "warning", warning));
}

async function checkHere(text: string) {
  const { checkDefinition, readConfig } = await import("@stepwell/server");
  const { problems, warnings } = checkDefinition(readConfig({}), text);
  return { errors: problems, warnings };
}

function isPlaced(error: StepwellError["errors"][number]): error is Finding {
  return error.line !== undefined && error.column !== undefined;
}

export function outcomeOf({ versionNumber, versionId, tag, created, isTagMoved }: Deployed): string {
  const version = `version ${versionNumber} (${versionId})`;
  if (created) return `${version} is ${tag}`;
  const unchanged = `unchanged: the definition is the same as in ${version}`;
  return isTagMoved ? `${unchanged}, which is ${tag} now` : `${unchanged}, which is ${tag} already`;
}

type Deployed = Awaited<ReturnType<StepwellClient["deploy"]>>;
