import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { describeUnknownVariables } from "../src/environment.ts";

test.each([
  ["STEPWELL_PROT", "`STEPWELL_PORT`"],
  ["STEPWELL_BASEURL", "`STEPWELL_BASE_URL`"],
  ["STEPWELL_DATABASE_URL", "`DATABASE_URL`"],
])("a mistyped setting %s is reported with the intended name", (name, meant) => {
  expect(describeUnknownVariables({ [name]: "1", STEPWELL_PORT: "80", PATH: "/bin" })).toEqual([
    `The variable ${name} is set, but Stepwell knows no such setting; did you mean ${meant}?`,
  ]);
});

test("a name that is similar to no setting is reported alone", () => {
  expect(describeUnknownVariables({ STEPWELL_FAVOURITE_COLOUR: "green" })).toEqual([
    "The variable STEPWELL_FAVOURITE_COLOUR is set, but Stepwell knows no such setting.",
  ]);
});

test("variables that only the command line reads, and variables that Kubernetes sets for Services, are known", () => {
  const links = {
    STEPWELL_SERVICE_HOST: "10.0.0.1",
    STEPWELL_SERVICE_PORT: "8080",
    STEPWELL_SERVICE_PORT_HTTP: "8080",
    STEPWELL_PORT_8080_TCP: "tcp://10.0.0.1:8080",
    STEPWELL_PORT_8080_TCP_ADDR: "10.0.0.1",
    STEPWELL_PORT_8080_TCP_PORT: "8080",
    STEPWELL_PORT_8080_TCP_PROTO: "tcp",
    STEPWELL_POSTGRES_PORT: "tcp://10.0.0.2:5432",
    STEPWELL_POSTGRES_SERVICE_HOST: "10.0.0.2",
  };
  const ours = { STEPWELL_URL: "u", STEPWELL_TOKEN: "t", STEPWELL_ORGANIZATION: "o", STEPWELL_CREDENTIALS_FILE: "f" };
  expect(describeUnknownVariables({ ...links, ...ours })).toEqual([]);
});

test("no service refuses the 30 s for which the client library asks it to wait", () => {
  expect(() => readConfig({ STEPWELL_MAX_WAIT_SECONDS: "29" })).toThrow("must be a whole number from 30 to 3600");
  expect(readConfig({ STEPWELL_MAX_WAIT_SECONDS: "30" }).maxWaitSeconds).toBe(30);
});

describe("a renamed setting", () => {
  const former = { STEPWELL_STORE_PATIENCE_MS: "700" };

  test("counts under its former name, and the start reports the present one", () => {
    expect(readConfig({ ...former, STEPWELL_COMMIT_TIMEOUT_MS: "" }).commitTimeoutMs).toBe(700);
    expect(describeUnknownVariables(former)).toEqual([
      "The variable STEPWELL_STORE_PATIENCE_MS is now named STEPWELL_COMMIT_TIMEOUT_MS. The old name still works for now; please rename the variable.",
    ]);
  });

  test("is ignored under its former name if the present one is set", () => {
    const both = { ...former, STEPWELL_COMMIT_TIMEOUT_MS: "900" };
    expect(readConfig(both).commitTimeoutMs).toBe(900);
    expect(describeUnknownVariables(both)).toEqual([
      "The variable STEPWELL_STORE_PATIENCE_MS is now named STEPWELL_COMMIT_TIMEOUT_MS. Both are set, so STEPWELL_STORE_PATIENCE_MS is ignored. Please remove STEPWELL_STORE_PATIENCE_MS.",
    ]);
  });
});

describe("a secret that comes from a file", () => {
  const directory = mkdtempSync(join(tmpdir(), "stepwell-secrets-"));
  afterAll(() => rmSync(directory, { recursive: true }));

  function fileWith(content: string): string {
    const file = join(directory, `secret-${content.length}`);
    writeFileSync(file, content);
    return file;
  }

  test("counts like the variable, without the line end that editors and `echo` add", () => {
    const url = "postgres://stepwell:hunter2@db.internal/stepwell";
    const environment = { DATABASE_URL_FILE: fileWith(`${url}\n`), STEPWELL_SECRET_KEY_FILE: fileWith("key\n") };
    expect(readConfig(environment)).toMatchObject({ databaseUrl: url, secretKey: "key" });
    expect(readConfig({ STEPWELL_OTHER_SECRET_KEYS_FILE: fileWith("old, older\n") }).otherSecretKeys).toEqual([
      "old",
      "older",
    ]);
    expect(describeUnknownVariables(environment)).toEqual([]);
  });

  test("is checked like the variable, and no error shows it", () => {
    const environment = { DATABASE_URL_FILE: fileWith("mysql://stepwell:hunter2@db.internal/stepwell") };
    expect(() => readConfig(environment)).toThrow(
      "DATABASE_URL must look like postgres://USER:PASSWORD@HOST:5432/DATABASE, but begins with mysql://.",
    );
  });

  test.each([
    [
      "is not there",
      "/nowhere/key",
      "STEPWELL_SECRET_KEY_FILE names /nowhere/key, which this process cannot open (ENOENT).",
    ],
    ["is a directory", directory, "which this process cannot open (EISDIR)."],
    ["is empty", fileWith("\n"), "which is empty."],
  ])("stops the start when the file %s", (_what, file, words) => {
    expect(() => readConfig({ STEPWELL_SECRET_KEY_FILE: file })).toThrow(words);
  });

  test("stops the start if the variable is set too", () => {
    const both = { STEPWELL_SECRET_KEY: "key", STEPWELL_SECRET_KEY_FILE: fileWith("key") };
    expect(() => readConfig(both)).toThrow(
      "STEPWELL_SECRET_KEY and STEPWELL_SECRET_KEY_FILE are both set. Remove one of them.",
    );
  });

  test("is allowed only for secrets", () => {
    expect(describeUnknownVariables({ STEPWELL_PORT_FILE: "/run/port" })).toEqual([
      "The variable STEPWELL_PORT_FILE is set, but Stepwell knows no such setting.",
    ]);
  });
});
