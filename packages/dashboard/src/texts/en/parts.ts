import { countOf } from "../plural.ts";

export const parts = {
  copy: "Copy",
  copied: "Copied",
  copyFailed: "The browser did not let this page copy. Select the text and copy it yourself.",
  close: "Close",
  escapeAgain: "Press Escape again to close this and discard what you typed.",
  cancel: "Cancel",
  dismiss: "Dismiss",
  menuFailed: "The menu could not be loaded. Check that the service can be reached, and try again.",
  utc: (time: string) => `${time} UTC`,
  outdated: "Not up to date: the numbers could not be loaded. This page tries again by itself.",
  loadingMore: "Loading more",
  loadMore: "Load more",
  allShown: (count: number) => `${countOf(count, "row", "rows")}, all shown`,
  noTime: "–",
  time: "Time",
  asTable: "As a table",
  notLoaded: "This part of the page could not be loaded. The rest of the page works without it.",
} as const;

export const actor = {
  you: "you",
  user: (id: string) => `user ${id}`,
  apiToken: (id: string) => `API token ${id}`,
  service: (_id: string) => "the service",
} as const;

export const charts = {
  throughput: "Throughput",
  throughputLabel: "Succeeded and failed jobs, by hour, in the last day",
  succeeded: "Succeeded",
  failed: "Failed",
  duration: "Duration",
  durationLabel: "Time from submission to success, by hour, in the last day",
  median: "p50",
  slow: "p95",
  none: "No job has succeeded or failed in the last 24 hours.",
  notDrawn: "The chart could not be loaded. The table below shows the same data.",
} as const;

export const json = {
  numberTooLarge: "A number is too large",
  syntaxError: (line: number, column: number) => `JSON syntax error, line ${line}, column ${column}`,
  items: (count: number) => `[${countOf(count, "item", "items")}]`,
  fields: (count: number) => `{${countOf(count, "field", "fields")}}`,
  more: (count: number) => `Show more (${count.toLocaleString("en")} left)`,
  wholeText: (length: number) => `Show all ${length.toLocaleString("en")} characters`,
} as const;

export const problem = {
  unexpectedTitle: "Unexpected answer",
  unexpected: (status: number) =>
    `Something between this page and the service answered ${status}. Try again. If it happens again, check your proxy.`,
  unreachableTitle: "The service is out of reach",
  unreachable: "It may be restarting, or your network may be down. Try again in a few seconds.",
  changeUnanswered:
    "It may be restarting, or your network may be down. It is not known whether your change was made. This page does not send it again by itself. Check that the service can be reached, and try again.",
  changedTitle: "It was changed meanwhile",
  changed:
    "It was changed after this page showed it to you, so nothing was done. Close this, look at it as it is now, and try again. If your last attempt got no answer, the change may be your own.",
  pageTitle: "Something went wrong",
  notFound: "There is nothing at this address, or you have no access to it. Check the address.",
  request: (requestId: string) => `Request ${requestId}`,
  copyRequestId: "Copy the request's id",
  tryAgain: "Try again",
  ofField: (details: readonly string[]) =>
    details.map((detail) => `${detail[0]?.toUpperCase()}${detail.slice(1)}.`).join(" "),
} as const;

/** The statuses of a job in words for people: those of the API, and the more precise ones that are shown for a RUNNING job. */
export const status = {
  PENDING: "Pending",
  RUNNING: "Running",
  WAITING: "Waiting",
  SLEEPING: "Sleeping",
  RETRYING: "Retrying",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
} as const;
