import { createRequire } from "node:module";
import { Command } from "commander";
import { deploy } from "./deploy.ts";
import { sendEvent, showJob, submit } from "./jobs.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { sample, sampleName } from "./sample.ts";
import { explain } from "./terminal.ts";
import { whoAmI } from "./who-am-i.ts";

// Commands that need the service itself load it when they run: to load it takes half a second, which no other command should wait.
const program = new Command("stepwell")
  .description(
    "Durable workflows, self-hosted. Commands that talk to a service read STEPWELL_URL, STEPWELL_TOKEN and\nSTEPWELL_ORGANIZATION; what is not set comes from `stepwell login`, or the dev.json that `stepwell dev` wrote.",
  )
  .version((createRequire(import.meta.url)("../package.json") as { readonly version: string }).version)
  .showHelpAfterError();

program
  .command("dev")
  .description("start the service for trying it out: with a user, an organization, a token and a sample job")
  .action(async () => (await import("./dev.ts")).dev());
program
  .command("serve")
  .description("start the service")
  .action(async () => (await import("./serve.ts")).serve());
program
  .command("init")
  .description("make the first owner of an empty store; print the owner's token and a link to set a password, once")
  .requiredOption("--email <address>", "the owner's mail address")
  .requiredOption("--organization <name>", "name of the first organization")
  .action(async (options) => (await import("./init.ts")).init(options));
program
  .command("doctor")
  .option("--json", "as JSON")
  .description(
    "check the database, the secret key, the disk, the clock and the settings; changes nothing, and ends with 1 on a problem",
  )
  .action(async (options) => (await import("./doctor.ts")).doctor(options));
const user = program
  .command("user")
  .description("people's accounts, for the operator of the service: works on the store itself");
user
  .command("reset-link")
  .argument("<email>")
  .option("--remove-second-factor", "also remove the second factor, if the user lost the app and the recovery codes")
  .description("print a link that sets another password, once")
  .action(async (email, options) => (await import("./users.ts")).resetLink(email, options));
user
  .command("disable")
  .argument("<email>")
  .description("lock a user out: no sign-in and no token of theirs works any more")
  .action(async (email) => (await import("./users.ts")).disable(email));
user
  .command("enable")
  .argument("<email>")
  .description("let a disabled user in again")
  .action(async (email) => (await import("./users.ts")).enable(email));
user
  .command("organizations")
  .argument("<email>")
  .option("--max <number>", 'how many; 0: none; "default": as configured')
  .description("show how many organizations a user may create, or set it")
  .action(async (email, options) => (await import("./users.ts")).organizations(email, options));
program
  .command("organization")
  .description("what the operator decides about an organization")
  .command("limits")
  .argument("<organizationId>")
  .option(
    "--requests-per-minute <number>",
    'requests of all its callers together; 0: no limit; "default": as configured',
  )
  .option("--submits-per-minute <number>", 'jobs that it submits; 0: no limit; "default": as configured')
  .option(
    "--max <name=number>",
    'how many of one thing it may have, such as apiTokens=50; "apiTokens=default": as configured',
    (value, before: readonly string[] = []) => [...before, value],
  )
  .description("show an organization's limits, or set them: in the store itself, on the operator's machine")
  .action(async (id, options) => (await import("./organization-limits.ts")).organizationLimits(id, options));
program
  .command("login")
  .option("--url <address>", "the service; left out: STEPWELL_URL, or the one that `stepwell dev` started here")
  .option("--organization <name>", "name or id of the organization to work in, where there are several")
  .option("--insecure", "also where http to another machine lets everybody on the way read the tokens")
  .description("sign in by a browser, here or on another machine, and keep the sign-in for later commands")
  .action(login);
program
  .command("logout")
  .option("--url <address>", "where; left out: where commands go")
  .description("end the session at the service, and forget it here")
  .action(logout);
program
  .command("whoami")
  .option("--json", "as the service answers")
  .description("show who you are signed in as")
  .action(whoAmI);
program
  .command("sample")
  .option("--name <name>", "the name of the workflow in it", sampleName)
  .description("print the definition of the sample workflow, to change and deploy")
  .action(sample);
program
  .command("deploy")
  .argument("<file>", "a workflow definition, as JSON")
  .option("--tag <tag>", "the tag to point at the version", "$LIVE")
  .description("register a definition as a new version of its workflow, unless it is unchanged, and tag it")
  .action(deploy);
program
  .command("submit")
  .argument("<workflow>", "a workflow's name or id")
  .option("--input <json>", "the job's input", "{}")
  .option("--tag <tag>", "which version to run", "$LIVE")
  .option("--wait <seconds>", "wait until the job has ended or waits for events", "0")
  .description("submit a job; without --wait its status is PENDING, and `stepwell job` shows how far it has come")
  .action(submit);
program.command("job").argument("<jobId>").description("show a job").action(showJob);
program
  .command("event")
  .argument("<jobId>")
  .argument("<eventId>")
  .option("--payload <json>", "the event's payload")
  .option("--step <name>", "send it to this step only")
  .option("--visit <number>", "send it to this visit of the step only")
  .description("send an event to a job")
  .action(sendEvent);
program
  .command("audit")
  .description("look after the audit trail")
  .command("verify")
  .option("--organization <id>", "verify this organization's trail; left out: those of all there are in the store")
  .option("--expect <number:hash>", "a seal that must be there: the newest one that an earlier verification printed")
  .description("hold the audit trail against its seals; ends with 1 when a row was changed, removed or inserted")
  .action(async (options) => (await import("./audit.ts")).verify(options));

try {
  await program.parseAsync();
} catch (error) {
  explain(error);
  // The exit code alone is not enough: a connection on which the database waits for a password would hold the process for a minute.
  process.exit(1);
}
