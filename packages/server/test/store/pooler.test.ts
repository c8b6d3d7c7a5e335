import { expect, inject, onTestFinished, test } from "vitest";
import { examinePooler } from "../../src/store/home/pooler.ts";
import { ScriptedPooler } from "./scripted-pooler.ts";

test.each([
  ["by transactions, and forgets statements", { sharesSessions: true, keepsStatements: false }],
  ["by transactions, and keeps statements", { sharesSessions: true, keepsStatements: true }],
  ["by sessions", { sharesSessions: false, keepsStatements: false }],
])("a pooler that works %s is known", async (_how, { sharesSessions, keepsStatements }) => {
  const pooler = await ScriptedPooler.start({ sharesSessions, keepsStatements });
  onTestFinished(() => pooler.stop());
  expect(await examinePooler(pooler.url, 5_000)).toEqual({
    sharesSessions,
    // A client that keeps its session keeps its statements.
    keepsPreparedStatements: keepsStatements || !sharesSessions,
  });
});

test("a server without a pooler shares no sessions and keeps prepared statements", async () => {
  expect(await examinePooler(inject("postgresUrl"), 5_000)).toEqual({
    sharesSessions: false,
    keepsPreparedStatements: true,
  });
});
