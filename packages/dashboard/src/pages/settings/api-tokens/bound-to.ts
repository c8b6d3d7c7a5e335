import type { ApiToken } from "../../../api/api-tokens.ts";
import { texts } from "../../../texts/texts.ts";

/** What a token is bound to, in few words; undefined: to nothing. */
export function boundToText(boundTo: ApiToken["boundTo"]): string | undefined {
  if (boundTo === undefined) return undefined;
  const words = texts.apiTokens;
  const { workflowIds, tags, jobEvent } = boundTo;
  const parts = [
    workflowIds !== undefined && words.boundWorkflows(workflowIds.length),
    tags !== undefined && words.boundTags(tags),
    jobEvent !== undefined && words.boundEvent(jobEvent.eventId),
  ];
  return parts.filter((part) => part !== false).join("; ");
}
