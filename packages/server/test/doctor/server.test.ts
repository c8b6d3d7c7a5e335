import { expect, test } from "vitest";
import { judgeServer } from "../../src/doctor/server.ts";

const facts = {
  version: "18.1",
  versionNumber: 180_001,
  now: 0,
  fsync: "on",
  fullPageWrites: "on",
  synchronousCommit: "on",
  synchronousStandbyNames: "standby",
  standbyCount: 1,
  maxConnections: 100,
};

test.each([
  ["on", "ok", /^Commits wait for a standby/],
  ["remote_write", "ok", /^Commits wait for a standby/],
  ["local", "warning", /^synchronous_commit is local: commits do not wait for the standby/],
  ["off", "warning", /^synchronous_commit is off: commits do not wait for the standby/],
])("with synchronous_commit = %s, the finding about replication is %s", (synchronousCommit, level, text) => {
  const config = { databaseUrl: "postgres://db.example/stepwell", databasePoolSize: 10 };
  const findings = judgeServer({ ...facts, synchronousCommit }, config);
  expect(findings.filter(({ check }) => check === "replication")).toEqual([
    { check: "replication", level, detail: expect.stringMatching(text) },
  ]);
});
