import { expect, test } from "vitest";
import { sqlState } from "../../../src/store/home/database.ts";

const coded = (code: unknown) => Object.assign(new Error("x"), { code });

test.each(["23505", "40P01", "XX001", "HV00A", "P0001", "F0000"])("%s is an error code of PostgreSQL", (code) => {
  expect(sqlState(coded(code))).toBe(code);
});

test.each(["EPIPE", "EPERM", "ECONNRESET", "ETIMEDOUT", 23_505, undefined])(
  "%s is not an error code of PostgreSQL",
  (code) => {
    expect(sqlState(coded(code))).toBeUndefined();
  },
);
