import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { expect, test } from "vitest";
import { describeFormat, formatNames, hasFormat } from "../../../src/core/schema/formats/format.ts";

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
  time: ["12:00:00Z", "08:30:06.283185z", "23:59:59+23:59", "23:59:60Z", "00:59:60+01:00"],
  duration: ["P1Y2M3DT4H5M6S", "P4W", "PT36H", "P1DT12H", "PT0S", "PT1H5S", "P10Y1D", "P1M", "PT1M"],
  email: ["a@b", "first.last+tag@mail.example.org", "o'brien_!#$%&*@xn--bcher-kva.example", `${"a".repeat(64)}@b.c`],
  hostname: ["localhost", "www.example.com", "1host", "a", "xn--bcher-kva.example", `${"a".repeat(63)}.b`],
  ipv4: ["192.0.2.1", "0.0.0.0", "255.255.255.255"],
  ipv6: ["::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:192.0.2.1", "FE80::A"],
  "uri-reference": ["", "https://a", "//a/b", "/a?b#c", "a", "?a:b", "#a", "./1a:b", "a/b:c"],
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
  time: [
    "",
    "12:00:00",
    "12:00Z",
    "24:00:00Z",
    "12:60:00Z",
    "22:59:60Z",
    "23:59:60+01:00",
    "12:00:00+24:00",
    "T12:00:00Z",
  ],
  duration: ["", "P", "PT", "1D", "P1", "P1D2H", "P2D1Y", "P1Y2W", "PT1D", "P1DT", "PT1.5S", "P-1D", "p1d", "P1D\n"],
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
  hostname: ["", ".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a b", "é.example", "a".repeat(64), "a.".repeat(130)],
  ipv4: ["", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4 ", "0x1.2.3.4", "1.2.3.4/24", "١.2.3.4"],
  ipv6: ["", ":", "1:2:3:4:5:6:7", "1::2::3", "12345::", "::1/64", "fe80::1%eth0", "[::1]", "192.0.2.1", " ::1"],
  "uri-reference": ["1a:b", ":a", "a b", "\\\\a", "#a#b", "%2", "ä", "a{b}"],
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

test.each(formatNames())("%s accepts what its standard accepts, and nothing else", (format) => {
  for (const text of right[format]) expect(hasFormat(text, format), text).toBe(true);
  for (const text of wrong[format]) expect(hasFormat(text, format), text).toBe(false);
  expect(describeFormat(format)).not.toBe("");
});

test.each(formatNames())("%s takes linear time", (format) => {
  const startedAt = performance.now();
  for (const part of ["a", "a.", "a@", "%", "http://a#", "2026-01-31T12:00:00.0", "-", "1"])
    hasFormat(part.repeat(200_000), format);
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(1_000));
});
