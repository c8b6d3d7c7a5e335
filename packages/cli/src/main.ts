#!/usr/bin/env node
import { Command } from "commander";
import { deploy } from "./deploy.ts";
import { dev } from "./dev.ts";
import { init } from "./init.ts";
import { sendEvent, showJob, submit } from "./jobs.ts";
import { organizationLimits } from "./organization-limits.ts";
import { serve } from "./serve.ts";
import { explain } from "./terminal.ts";

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
  .description("make the first owner of an empty store, and print the owner's token once")
  .requiredOption("--email <address>", "the owner's mail address")
  .requiredOption("--organization <name>", "name of the first organization")
  .action(init);
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
  .description("show an organization's rate limits, or set them: in the store itself, on the operator's machine")
  .action(organizationLimits);
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

try {
  await program.parseAsync();
} catch (error) {
  explain(error);
  process.exitCode = 1;
}
