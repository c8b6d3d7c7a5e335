#!/usr/bin/env node
import { Command } from "commander";
import { verify } from "./audit.ts";
import { deploy } from "./deploy.ts";
import { dev } from "./dev.ts";
import { init } from "./init.ts";
import { sendEvent, showJob, submit } from "./jobs.ts";
import { serve } from "./serve.ts";
import { explain } from "./terminal.ts";
import { disable, enable, resetLink } from "./users.ts";

const program = new Command("stepwell")
  .description(
    "Durable workflows, self-hosted. Commands that talk to a service read STEPWELL_URL, STEPWELL_TOKEN and\nSTEPWELL_ORGANIZATION, or the dev.json that `stepwell dev` wrote.",
  )
  .showHelpAfterError();

program
  .command("dev")
  .description("start the service for trying it out: with a user, an organization, a token and a sample job")
  .action(dev);
program.command("serve").description("start the service").action(serve);
program
  .command("init")
  .description("make the first owner of an empty store; print the owner's token and a link to set a password, once")
  .requiredOption("--email <address>", "the owner's mail address")
  .requiredOption("--organization <name>", "name of the first organization")
  .action(init);
const user = program
  .command("user")
  .description("people's accounts, for who runs the service: works on the store itself");
user
  .command("reset-link")
  .argument("<email>")
  .option("--remove-second-factor", "for who lost the authenticator app and the recovery codes")
  .description("print a link that sets another password, once")
  .action(resetLink);
user
  .command("disable")
  .argument("<email>")
  .description("let a user in no more, whatever they sign in with")
  .action(disable);
user.command("enable").argument("<email>").description("let a disabled user in again").action(enable);
program
  .command("deploy")
  .argument("<file>", "a workflow definition, as JSON")
  .option("--tag <tag>", "the tag to point at the new version", "$LIVE")
  .description("register a definition as a new version of its workflow, and tag it")
  .action(deploy);
program
  .command("submit")
  .argument("<workflow>", "a workflow's name or id")
  .option("--input <json>", "the job's input", "{}")
  .option("--tag <tag>", "which version to run", "$LIVE")
  .option("--wait <seconds>", "wait until the job has ended or waits for events", "0")
  .description("submit a job")
  .action(submit);
program.command("job").argument("<jobId>").description("show a job").action(showJob);
program
  .command("event")
  .argument("<jobId>")
  .argument("<eventId>")
  .option("--payload <json>", "the event's payload")
  .description("send an event to a job")
  .action(sendEvent);
program
  .command("audit")
  .description("look after the audit trail")
  .command("verify")
  .option("--organization <id>", "verify this organization's trail; left out: those of all there are in the store")
  .option("--expect <number:hash>", "a seal that must be there: the newest one that an earlier verification printed")
  .description("hold the audit trail against its seals; ends with 1 when a row was changed, removed or inserted")
  .action(verify);

try {
  await program.parseAsync();
} catch (error) {
  explain(error);
  process.exitCode = 1;
}
