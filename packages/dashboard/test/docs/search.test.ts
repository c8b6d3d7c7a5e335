import { describe, expect, test } from "vitest";
import { type Row, search } from "../../src/docs/search.ts";

const rows: readonly Row[] = [
  ["/definitions", "Workflow definitions", "Workflow definitions", "A definition is a JSON document."],
  ["/definitions#retries", "Workflow definitions", "Failure › Retries", "A step has a retry: attempts, backoff."],
  ["/executors#errors", "Executors", "HTTP request › Errors", "Without a retry a step is tried again three times."],
  ["/api#SubmitJob", "API reference", "SubmitJob", "POST /organizations/{organizationId}/jobs — Submit a job."],
  ["/api#ListJobs", "API reference", "ListJobs", "GET /organizations/{organizationId}/jobs — List jobs."],
];

const addressesOf = (query: string) => search(rows, query).map(({ row: [address] }) => address);

describe("the search of the documentation", () => {
  test("finds a heading before a text, and a beginning before the middle of a word", () => {
    expect(addressesOf("retries")).toEqual(["/definitions#retries"]);
    expect(addressesOf("retry")).toEqual(["/definitions#retries", "/executors#errors"]);
    expect(addressesOf("job")).toEqual(["/api#SubmitJob", "/api#ListJobs"]);
    expect(addressesOf("definition")[0]).toBe("/definitions");
  });

  test("finds the pages that contain every word of the query, in any order and in any case", () => {
    expect(addressesOf("STEP  retry")).toEqual(["/definitions#retries", "/executors#errors"]);
    expect(addressesOf("attempts backoff tried")).toEqual([]);
    expect(addressesOf("  ")).toEqual([]);
  });

  test("finds an operation by its name, in one word or in several, and by its path", () => {
    expect(addressesOf("submitjob")[0]).toBe("/api#SubmitJob");
    expect(addressesOf("submit job")[0]).toBe("/api#SubmitJob");
    expect(addressesOf("get /organizations/{organizationId}/jobs")).toEqual(["/api#ListJobs"]);
  });

  test("shows the text around the first found word, and marks each found word", () => {
    const text = `${"Something else. ".repeat(20)}A $LIVE tag (of a version) is moved. ${"More. ".repeat(40)}`;
    const [found] = search([["/a", "A", "B", text]], "$live (of");
    const pieces = found?.snippet ?? [];
    expect(pieces.filter((_, place) => place % 2 === 1)).toEqual(["$LIVE", "(of"]);
    expect(pieces[0]).toMatch(/^… .*A $/);
    expect(pieces.at(-1)).toMatch(/ …$/);
    expect(pieces.join("").length).toBeLessThan(200);
  });

  test("marks a short word only where it is a word of its own", () => {
    expect(search([["/a", "A", "B", "Cancel a parked job (a-b)."]], "cancel a job")[0]?.snippet).toEqual([
      "",
      "Cancel",
      " ",
      "a",
      " parked ",
      "job",
      " (",
      "a",
      "-b).",
    ]);
    const text = `Jobs are parked. ${"Something else. ".repeat(20)}To cancel it, send POST /jobs/{jobId}/cancel-all.`;
    expect(search([["/a", "A", "B", text]], "a cancel-all")[0]?.snippet.join("")).toContain("cancel-all");
  });

  test("shows the beginning of a text that contains none of the words", () => {
    expect(search(rows, "SubmitJob")[0]?.snippet.join("")).toMatch(/^POST /);
  });
});
