import {
  changeOrganizationLimits,
  type MaximumChanges,
  type MaximumName,
  maximumNames,
  maximumSettings,
  maxPerMinute,
  readConfig,
  settings,
} from "@stepwell/server";
import { CommandError } from "../exit-code.ts";
import { list } from "../output/table.ts";
import { show } from "../output/terminal.ts";

export async function organizationLimits(
  organizationId: string,
  options: {
    readonly requestsPerMinute?: string;
    readonly submitsPerMinute?: string;
    readonly max?: readonly string[];
  },
): Promise<void> {
  const config = readConfig(process.env);
  const limits = await changeOrganizationLimits(config, organizationId, {
    ...(options.requestsPerMinute !== undefined && {
      requestsPerMinute: parseLimit("--requests-per-minute", options.requestsPerMinute),
    }),
    ...(options.submitsPerMinute !== undefined && {
      submitsPerMinute: parseLimit("--submits-per-minute", options.submitsPerMinute),
    }),
    ...(options.max !== undefined && { maximums: parseMaximums(options.max) }),
  });
  const maximums = maximumNames.map((name) => {
    const own = limits.maximums[name];
    return [name, own === undefined ? byDefault(String(config[maximumSettings[name]])) : String(own)];
  });
  const all = {
    "requests per minute": describe(limits.requestsPerMinute, config.organizationRequestsPerMinute),
    "submits per minute": describe(limits.submitsPerMinute, config.organizationSubmitsPerMinute),
    ...Object.fromEntries(maximums),
  };
  show({ value: limits, text: list(all, "") });
}

/** Parses a limit; null stands for the configuration's limit. */
function parseLimit(option: string, text: string): number | null {
  if (text === "default") return null;
  if (/^\d{1,10}$/.test(text) && Number(text) <= maxPerMinute) return Number(text);
  throw new CommandError(
    "usage",
    `${option} takes a number from 0 (no limit) to ${maxPerMinute}, or "default", but is "${text}".`,
  );
}

function parseMaximums(texts: readonly string[]): MaximumChanges {
  return Object.fromEntries(texts.map(parseMaximum));
}

function parseMaximum(text: string): [MaximumName, number | null] {
  const [, wanted = "", value = ""] = /^(\w+)=(.*)$/.exec(text) ?? [];
  const name = maximumNames.find((known) => known === wanted);
  if (name === undefined) {
    throw new CommandError(
      "usage",
      `--max takes NAME=NUMBER, but is "${text}". The names are: ${maximumNames.join(", ")}.`,
    );
  }
  if (value === "default") return [name, null];
  try {
    return [name, settings[maximumSettings[name]].parse(value || "none")];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      "usage",
      `--max ${name} ${reason}. To use the configured value again, write ${name}=default.`,
    );
  }
}

function describe(own: number | null, configured: number): string {
  const text = (perMinute: number) => (perMinute === 0 ? "no limit" : String(perMinute));
  return own === null ? byDefault(text(configured)) : text(own);
}

function byDefault(configured: string): string {
  return `default (${configured}, as configured here)`;
}
