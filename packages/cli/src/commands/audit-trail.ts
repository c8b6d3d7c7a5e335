import type { operations } from "@stepwell/client";
import { type Command, Option } from "commander";
import { connect, type Place } from "../connection/connection.ts";
import { CommandError } from "../exit-code.ts";
import { withLimit } from "../option.ts";
import { listed } from "../output/listed.ts";
import { table } from "../output/table.ts";
import { show, write } from "../output/terminal.ts";

export function declareAudit(program: Command): void {
  const audit = program.command("audit").description("the audit trail: who changed what, and what was denied");
  withLimit(withFilter(audit.command("list").description("list the newest entries first"))).action(listEntries);
  withFilter(audit.command("export").description("print all entries, to store them in another system"))
    .addOption(new Option("--format <format>", "the format of the entries").choices(["jsonl", "csv"]).default("jsonl"))
    .action(exportEntries);
  audit
    .command("verify")
    .option(
      "--organization <id>",
      "verify only the trail of this organization; by default all trails in the store. If STEPWELL_URL is set or a running service holds the store, the default is the organization in use",
    )
    .option("--expect <number:hash>", "a seal that must exist: the newest one that an earlier verification printed")
    .description("compare the audit trail with its seals; exits with 1 if a row was changed, removed or inserted")
    .action(async (options) => (await import("../operation/audit.ts")).verify(options));
}

function withFilter(command: Command): Command {
  return command
    .option("--action <action>", "only this action, such as UpdateRole")
    .option("--after <time>", "only entries from this time on, such as 2026-11-01T00:00:00Z")
    .option("--before <time>", "only entries from before this time")
    .addOption(new Option("--outcome <outcome>", "only entries with this outcome").choices(["accepted", "denied"]));
}

type Filter = Pick<
  NonNullable<operations["ListAudit"]["parameters"]["query"]>,
  "action" | "after" | "before" | "outcome"
>;

function filterIn({ action, after, before, outcome }: Filter): Filter {
  return {
    ...(action !== undefined && { action }),
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
    ...(outcome !== undefined && { outcome }),
  };
}

async function listEntries(options: Place & Filter & { readonly limit: number }): Promise<void> {
  const { client, organizationId } = await connect(options);
  const path = { organizationId };
  const filter = filterIn(options);
  const entries = await listed(options.limit, (pageSize) =>
    client.list("ListAudit", { path, query: { ...filter, pageSize } }),
  );
  const rows = entries.map(({ recordedAt, actor, action, outcome, target }) => [
    recordedAt,
    action,
    outcome,
    actor.name ?? actor.id,
    [target.type, target.id].filter((part) => part !== undefined).join(" "),
  ]);
  const text =
    rows.length === 0 ? "There is no such entry." : table(["WHEN", "ACTION", "OUTCOME", "BY", "TARGET"], rows);
  show({ value: entries, text, quiet: entries.map(({ entryId }) => entryId) });
}

/** The service sends the whole export in one answer, however long it is, so each part is printed as soon as it arrives. */
async function exportEntries(options: Place & Filter & { readonly format: "jsonl" | "csv" }): Promise<void> {
  const { client, organizationId } = await connect(options);
  const query = { ...filterIn(options), format: options.format };
  const response = await client.open("ExportAudit", { path: { organizationId }, query });
  try {
    for await (const chunk of response.body ?? []) await write(chunk);
  } catch (error) {
    throw new CommandError("unreachable", "The export was interrupted: entries are missing at its end. Export again.", {
      cause: error,
    });
  }
}
