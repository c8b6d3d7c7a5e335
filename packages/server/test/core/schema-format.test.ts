import { expect, test } from "vitest";
import { describeFormat, formatNames, hasFormat } from "../../src/core/schema/format.ts";

const right = {
  "date-time": [
    "2026-01-31T12:00:00Z",
    "2026-01-31t12:00:00z",
    "2024-02-29T23:59:59.123456789+05:30",
    "2000-02-29T00:00:00-23:59",
    "1998-12-31T23:59:60Z",
    "1998-12-31T15:59:60.5-08:00",
    "0000-01-01T00:00:00Z",
  ],
  date: ["2026-01-31", "2024-02-29", "0001-12-31"],
  email: ["a@b", "first.last+tag@mail.example.org", "o'brien_!#$%&*@xn--bcher-kva.example", `${"a".repeat(64)}@b.c`],
  uri: ["https://example.org/a?b=c&d=%20#e", "mailto:a@b.c", "urn:isbn:0451450523", "http://[::1]:8080/", "x:"],
  uuid: [
    "0198c1e0-7d3e-7a3b-9e4c-3e2f9c1d5e6a",
    "0198C1E0-7D3E-7A3B-9E4C-3E2F9C1D5E6A",
    "00000000-0000-0000-0000-000000000000",
  ],
} as const;

const wrong = {
  "date-time": [
    "",
    "2026-01-31",
    "2026-01-31T12:00:00",
    "2026-01-31 12:00:00Z",
    "2026-01-31T12:00Z",
    "2026-02-29T12:00:00Z",
    "1900-02-29T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "2026-04-31T12:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:60:00Z",
    "2026-01-31T12:00:61Z",
    "2026-01-31T12:00:60Z",
    "2026-01-31T12:00:00.Z",
    "2026-01-31T12:00:00+24:00",
    "2026-01-31T12:00:00+0530",
    "2026-01-31T12:00:00Z\n",
    "٢٠٢٦-01-31T12:00:00Z",
  ],
  date: ["", "2026-1-31", "2026-02-30", "2026-00-10", "2026-01-00", "26-01-31", "2026-01-31T00:00:00Z"],
  email: [
    "",
    "a",
    "@b",
    "a@",
    "a b@c",
    "a@b@c@",
    ".a@b",
    "a.@b",
    "a..b@c",
    "a@-b",
    "a@b-",
    "a@b..c",
    `${"a".repeat(65)}@b`,
    `a@${"b".repeat(64)}`,
  ],
  uri: [
    "",
    "example.org",
    "//example.org",
    "1a:b",
    "http://a b",
    "http://a/%2",
    "http://a/%zz",
    "a:#b#c",
    "a:{}",
    "a:ä",
    ":a",
  ],
  uuid: [
    "",
    "0198c1e07d3e7a3b9e4c3e2f9c1d5e6a",
    "0198c1e0-7d3e-7a3b-9e4c-3e2f9c1d5e6",
    "g198c1e0-7d3e-7a3b-9e4c-3e2f9c1d5e6a",
    "{0198c1e0-7d3e-7a3b-9e4c-3e2f9c1d5e6a}",
  ],
} as const;

test.each(formatNames())("%s takes what its standard takes, and nothing else", (format) => {
  for (const text of right[format]) expect(hasFormat(text, format), text).toBe(true);
  for (const text of wrong[format]) expect(hasFormat(text, format), text).toBe(false);
  expect(describeFormat(format)).not.toBe("");
});

test.each(formatNames())("%s takes linear time", (format) => {
  const startedAt = performance.now();
  for (const part of ["a", "a.", "a@", "%", "http://a#", "2026-01-31T12:00:00.0", "-", "1"])
    hasFormat(part.repeat(200_000), format);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
