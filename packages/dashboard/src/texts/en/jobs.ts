import { countOf } from "../plural.ts";

export const jobs = {
  title: "Jobs",
  caption: "Jobs of this organization",
  filters: "Filters",
  status: "Status",
  anyStatus: "Any",
  waiting: "Waiting",
  workflow: "Workflow",
  anyWorkflow: "Any",
  version: "Version",
  anyVersion: "Any",
  submittedFrom: "Submitted from",
  submittedUntil: "Submitted until",
  event: "Waits for the event",
  order: "Order",
  newest: "Newest first",
  oldest: "Oldest first",
  clear: "Clear filters",
  count: ({ count, isMinimum }: { count: number; isMinimum: boolean }) =>
    `${isMinimum ? "more than " : ""}${countOf(count, "job", "jobs")}`,
  changes: (added: number, gone: number) =>
    [added > 0 && countOf(added, "new job", "new jobs"), gone > 0 && `${gone.toLocaleString("en")} no longer listed`]
      .filter(Boolean)
      .join(", "),
  upToDate: "Up to date",
  old: "Not up to date: the service does not answer. This page tries again by itself.",
  show: "Show",
  goneRow: "This job no longer matches the filters",
  job: "Job",
  at: "Current step",
  submitted: "Submitted",
  took: "Duration",
  versionNumber: (versionNumber: number) => `v${versionNumber}`,
  awaits: (eventIds: readonly string[]) => `waits for ${eventIds.join(", ")}`,
  failedWith: (code: string, message: string) => `${code}: ${message}`,
  emptyTitle: "No job yet",
  empty:
    "A job runs one version of a workflow with one input. Submit one from a workflow's page, or begin with the sample:",
  noneFound: "No job matches the filters",
  noneFoundText: "Remove a filter, or choose a longer time.",
  thisWorkflow: "This workflow",
  thisVersion: "This version",
} as const;
