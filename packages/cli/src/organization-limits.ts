import { changeOrganizationLimits, maxPerMinute, readConfig } from "@stepwell/server";
import { print } from "./terminal.ts";

export async function organizationLimits(
  organizationId: string,
  options: { readonly requestsPerMinute?: string; readonly submitsPerMinute?: string },
): Promise<void> {
  const config = readConfig(process.env);
  const limits = await changeOrganizationLimits(config, organizationId, {
    ...(options.requestsPerMinute !== undefined && {
      requestsPerMinute: parseLimit("--requests-per-minute", options.requestsPerMinute),
    }),
    ...(options.submitsPerMinute !== undefined && {
      submitsPerMinute: parseLimit("--submits-per-minute", options.submitsPerMinute),
    }),
  });
  print(`requests per minute  ${describe(limits.requestsPerMinute, config.organizationRequestsPerMinute)}`);
  print(`submits per minute   ${describe(limits.submitsPerMinute, config.organizationSubmitsPerMinute)}`);
}

/** Null stands for the configuration's. */
function parseLimit(option: string, text: string): number | null {
  if (text === "default") return null;
  if (/^\d{1,10}$/.test(text) && Number(text) <= maxPerMinute) return Number(text);
  throw new Error(`${option} takes a number from 0 (no limit) to ${maxPerMinute}, or "default", but is "${text}".`);
}

function describe(own: number | null, configured: number): string {
  const text = (perMinute: number) => (perMinute === 0 ? "no limit" : String(perMinute));
  return own === null ? `default (${text(configured)}, as configured here)` : text(own);
}
