import { createRequire } from "node:module";
import { Argument, Command, type Option } from "commander";
import { declareApi } from "./commands/api.ts";
import { declareAudit } from "./commands/audit-trail.ts";
import { declareCompletion } from "./commands/completion.ts";
import { declareDeploy } from "./commands/deploy.ts";
import { declareEvent } from "./commands/event.ts";
import { declareHelp } from "./commands/help.ts";
import { declareJob } from "./commands/job.ts";
import { declareMember } from "./commands/member.ts";
import { declareOrg } from "./commands/org.ts";
import { declareProfile } from "./commands/profile.ts";
import { declareQueue } from "./commands/queue.ts";
import { declareRole } from "./commands/role.ts";
import { sample, sampleName, sampleNames, workerNames } from "./commands/sample.ts";
import { declareSubmit } from "./commands/submit.ts";
import { declareTag } from "./commands/tag.ts";
import { declareToken } from "./commands/token.ts";
import { whoAmI } from "./commands/who-am-i.ts";
import { declareWorkflow } from "./commands/workflow.ts";
import { chooseOutput, show } from "./output/terminal.ts";

const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };

/** Declares all commands with their options. No command runs until the returned program parses a command line. */
export function declareProgram(): Command {
  const program = new Command("stepwell")
    .description("Durable workflows, self-hosted.")
    .version(version)
    .addHelpText("after", `\n${whereCommandsGo}`)
    // `--version` after the name of a command is an option of that command.
    .enablePositionalOptions()
    .exitOverride()
    // An error message of commander begins with "error:", in some cases followed by "command-argument value". "stepwell:" replaces both.
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: (?:command-argument value )?/, "stepwell: ")),
    })
    .hook("preAction", (_, command) => {
      refuseEmpty(command);
      chooseOutput(command.opts());
    });
  declareWork(program);
  for (const leaf of leavesOf(program)) addPlace(leaf);
  declareThisMachine(program);
  declareOperation(program);
  for (const leaf of leavesOf(program)) addOutput(leaf);
  program.commandsGroup("On this machine:");
  declareCompletion(program);
  declareHelp(program);
  for (const command of allOf(program)) command.showHelpAfterError(usageOf(command));
  return program;
}

const whereCommandsGo = `Commands that talk to a service read STEPWELL_URL, STEPWELL_TOKEN and STEPWELL_ORGANIZATION, or a profile. If none of
these is set, they use the service that \`stepwell dev\` started here, or the sign-in of \`stepwell login\`.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed, 5 unreachable.`;

/** Declares the commands that work in an organization and call a service over HTTP. */
function declareWork(program: Command): void {
  program.commandsGroup("Jobs and workflows:");
  declareSubmit(program);
  declareJob(program);
  declareEvent(program);
  declareDeploy(program);
  declareWorkflow(program);
  declareTag(program);
  declareQueue(program);
  program.commandsGroup("Access:");
  program.command("whoami").description("show who you are signed in as, and where").action(whoAmI);
  declareToken(program);
  declareMember(program);
  declareRole(program);
  declareOrg(program);
  declareAudit(program);
  declareApi(program);
}

// Commands that need the service's own code or the OpenID client load them when they run: loading the service takes half a second, and no other
// command should wait for it.
function declareThisMachine(program: Command): void {
  program
    .command("login")
    .option(
      "--url <address>",
      "the address of the service; by default that of the named profile, STEPWELL_URL, the service that `stepwell dev` started in this directory, or the profile in use",
    )
    .option("--organization <name>", "name, key or id of the organization to work in, if there are several")
    .option("--profile <name>", "sign in at the service of this profile")
    .option("--insecure", "allow unencrypted http to another machine; others in the network can then read the tokens")
    .description("sign in with a browser, here or on another machine, and store the sign-in for later commands")
    .action(async (options) => (await import("./commands/login.ts")).login(options));
  program
    .command("logout")
    .option(
      "--url <address>",
      "the address of the service; by default the one to which commands go, or else that of the last sign-in",
    )
    .description("end the session at the service, and remove the sign-in here")
    .action(async (options) => (await import("./commands/logout.ts")).logout(options));
  program.commandsGroup("On this machine:");
  declareProfile(program);
  program
    .command("dev")
    .argument(
      "[definitions...]",
      "definition files, or directories that contain them, to deploy now and whenever they change; with definitions, the progress of jobs is shown too",
    )
    .description("start a service to try it out, with a user, an organization, a token and a sample job")
    .action(async (definitions) => (await import("./dev/dev.ts")).dev({ definitions }));
  program
    .command("validate")
    .argument("<files...>", "workflow definitions, as JSON; - for standard input")
    .option("--strict", "treat a warning as an error")
    .description("check definitions, without a service; exits with 1 if a definition is not valid")
    .action(async (files, options) => (await import("./commands/validate.ts")).validate(files, options));
  program
    .command("sample")
    .addArgument(new Argument("[example]", "which one").choices([...sampleNames, ...workerNames]).default(sampleName))
    .option("--name <name>", "the name of the workflow in the definition; by default that of the example")
    .description(
      "print the definition of an example workflow, or the program of an example worker; by default the definition that `dev` deploys",
    )
    .action(sample);
  program
    .command("version")
    .description("print the version of this command line")
    .action(() => show({ value: { version }, text: version, quiet: version }));
}

function declareOperation(program: Command): void {
  program.commandsGroup("Operate a service:");
  program
    .command("serve")
    .description("start the service")
    .action(async () => (await import("./dev/serve.ts")).serve());
  program
    .command("init")
    .description(
      "create the first owner of an empty store; print, only once, the owner's token and a link to set a password",
    )
    .requiredOption("--email <address>", "the owner's e-mail address")
    .requiredOption("--organization <name>", "name of the first organization")
    .action(async (options) => (await import("./operation/init.ts")).init(options));
  program
    .command("doctor")
    .description(
      "check the database, the secret key, the disk, the clock and the settings; changes nothing, and exits with 1 if there is a problem",
    )
    .action(async () => (await import("./operation/doctor.ts")).doctor());
  const user = program
    .command("user")
    .description("accounts of people, for the operator of the service; the commands work directly on the store");
  user
    .command("reset-link")
    .argument("<email>")
    .option("--remove-second-factor", "also remove the second factor, if the user lost the app and the recovery codes")
    .description("print a link with which the user sets a new password; it works once")
    .action(async (email, options) => (await import("./operation/users.ts")).resetLink(email, options));
  user
    .command("disable")
    .argument("<email>")
    .description("disable a user, who can then no longer sign in or use user tokens; API tokens keep working")
    .action(async (email) => (await import("./operation/users.ts")).disable(email));
  user
    .command("enable")
    .argument("<email>")
    .description("enable a disabled user again")
    .action(async (email) => (await import("./operation/users.ts")).enable(email));
  user
    .command("organizations")
    .argument("<email>")
    .option("--max <number>", 'the number; 0 allows none, and "default" applies the configured value')
    .description("show or set how many organizations a user may create")
    .action(async (email, options) => (await import("./operation/users.ts")).organizations(email, options));
}

/** Returns the commands that do something themselves. A group only contains others. */
export function leavesOf(command: Command): readonly Command[] {
  return allOf(command).filter(({ commands }) => commands.length === 0);
}

function allOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

/** Refuses empty values, which mostly come from unset variables of a script. */
function refuseEmpty(command: Command): void {
  // For completion, the shells send an empty word when the user has not begun one.
  if (command.name() === "complete") return;
  const argument = command.registeredArguments.find((_, index) => [command.processedArgs[index]].flat().includes(""));
  if (argument !== undefined) command.error(`error: argument '${argument.name()}' is empty.`, wrongUsage);
  // An empty description removes the present one.
  const isEmpty = (option: Option) =>
    option.long !== "--description" && command.getOptionValue(option.attributeName()) === "";
  const option = command.options.find(isEmpty);
  if (option !== undefined) command.error(`error: option '${option.flags}' is empty.`, wrongUsage);
}

const wrongUsage = { code: "stepwell.emptyValue" };

function addPlace(command: Command): void {
  // A command that uses `--organization` in another sense has declared the option itself.
  if (!command.options.some(({ long }) => long === "--organization")) {
    command.option(
      "--organization <name>",
      "name, key or id; by default that of the profile, STEPWELL_ORGANIZATION, the sign-in or the token",
    );
  }
  command.option("--profile <name>", "the profile to use, see `stepwell profile set`; by default STEPWELL_PROFILE");
}

function addOutput(command: Command): void {
  command
    .option("--json", "print the result as JSON")
    .option("-q, --quiet", "print only what a script needs, such as ids, and no warnings");
}

/** Returns the line that is printed after an error, instead of the whole help, which `--help` prints. */
function usageOf(command: Command): string {
  const names = [command.name()];
  for (let { parent } = command; parent !== null; { parent } = parent) names.unshift(parent.name());
  return `Usage: ${names.join(" ")} ${command.usage()}`;
}
