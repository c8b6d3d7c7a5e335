import type { AuditFilters, AuditTargetType } from "../../../document.ts";
import { isTime } from "../../../parts/words/local-time.ts";
import { texts } from "../../../texts/texts.ts";

/** The search part of the address of the audit trail. It has the filters of the API. */
export type AuditSearch = AuditFilters;

/** The texts have a word for each type, and are checked against the API's list of types. */
export const targetTypes = Object.keys(texts.audit.targets) as AuditTargetType[];

const names = ["action", "actorId", "targetId"] as const;
const times = ["after", "before"] as const;

/** Leaves out unknown filters, types and outcomes, and invalid times, so that an address with such a mistake still shows a list. */
export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const parsed: AuditSearch = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === "string" && value !== "") parsed[name] = value;
  }
  for (const name of times) {
    const value = search[name];
    if (isTime(value)) parsed[name] = value;
  }
  const targetType = targetTypes.find((one) => one === search.targetType);
  if (targetType !== undefined) parsed.targetType = targetType;
  if (search.outcome === "accepted" || search.outcome === "denied") parsed.outcome = search.outcome;
  return parsed;
}
