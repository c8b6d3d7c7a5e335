import { expect, test } from "vitest";
import { parseTime, toTime } from "../../src/core/time.ts";

test.each([
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
  ["2016-12-31t23:59:60.5z", "2017-01-01T00:00:00.500Z"],
  ["2017-01-01T00:59:60+01:00", "2017-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
])("the time %s is read as %s", (text, time) => {
  expect(toTime(parseTime("expiresAt", text))).toBe(time);
});

test.each(["1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00"])("the time %s is rejected", (text) => {
  expect(() => parseTime("expiresAt", text)).toThrow("expiresAt must be a time from 1970 to 9999.");
});
