import { expect, test } from "vitest";
import { parseJobSearch } from "../../src/pages/jobs/job-search.ts";
import { parseAuditSearch } from "../../src/pages/settings/audit/audit-search.ts";

const time = "2026-01-31T12:00:00.000Z";

test.each([
  ["unknown filters", { page: "2", status: "FAILED" }, { status: "FAILED" }],
  ["unknown statuses", { status: "LOST", order: "newest" }, {}],
  ["times that are none", { createdAfter: time, createdBefore: "yesterday" }, { createdAfter: time }],
  ["times without a date", { createdAfter: "7", createdBefore: "2026-13-31T12:00:00Z" }, {}],
])("the address of a list of jobs is read without %s", (_, address, read) => {
  expect(parseJobSearch(address)).toEqual(read);
});

test.each([
  ["unknown types and outcomes", { targetType: "job?", outcome: "lost", action: "SubmitJob" }, { action: "SubmitJob" }],
  ["times that are none", { after: time, before: "" }, { after: time }],
])("the address of the audit trail is read without %s", (_, address, read) => {
  expect(parseAuditSearch(address)).toEqual(read);
});
