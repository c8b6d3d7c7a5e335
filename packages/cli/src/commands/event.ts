import type { Command } from "commander";
import { connect, type Place } from "../connection/connection.ts";
import { parseJson, wholeNumber } from "../option.ts";
import { show, warn } from "../output/terminal.ts";

export function declareEvent(program: Command): void {
  program
    .command("event")
    .description("events, for which jobs wait")
    .command("send")
    .argument("<jobId>")
    .argument("<eventId>")
    .option("--payload <json>", "the event's payload: JSON, @FILE, or - for standard input", parseJson)
    .option("--step <name>", "send it to this step only")
    .option("--visit <number>", "send it to this visit of the step only", wholeNumber(1, 1_000_000))
    .description("send an event to a job")
    .action(sendEvent);
}

interface EventOptions extends Place {
  readonly payload?: unknown;
  readonly step?: string;
  readonly visit?: number;
}

async function sendEvent(jobId: string, eventId: string, options: EventOptions): Promise<void> {
  const { payload, step, visit, ...place } = options;
  const { client, organizationId } = await connect(place);
  const body = {
    eventId,
    ...(payload !== undefined && { payload }),
    ...(step !== undefined && { step }),
    ...(visit !== undefined && { visit }),
  };
  const event = await client.sendEvent(organizationId, jobId, body);
  for (const { pointer, detail } of event.warnings) warn(`warning: ${pointer} ${detail}`);
  show({ value: event, text: `${eventId}: ${outcomes[event.outcome]}`, quiet: event.outcome });
}

const outcomes = {
  matched: "the job received the event. The waiting step continues when it has all its events.",
  buffered: "the event is kept until a step waits for it.",
  duplicate: "the job already has this event, so nothing was changed.",
  unmatched:
    "no step of the job's version waits for an event with this id. The event only appears in the list of the job's events.",
} as const;
