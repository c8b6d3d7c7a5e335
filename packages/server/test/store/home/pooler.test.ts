import { addNote, createNotes, said } from "@stepwell/testing/notes.ts";
import { newDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { TcpProxy } from "@stepwell/testing/proxies/tcp-proxy.ts";
import { expect, inject, onTestFinished, test } from "vitest";
import { statement } from "../../../src/store/home/database.ts";
import { examinePooler } from "../../../src/store/home/pooler.ts";
import { openPostgres } from "../../../src/store/home/postgres.ts";
import { ScriptedPooler } from "./scripted-pooler.ts";

test.each([
  ["by transactions, and forgets statements", { sharesSessions: true, keepsStatements: false }],
  ["by transactions, and keeps statements", { sharesSessions: true, keepsStatements: true }],
  ["by sessions", { sharesSessions: false, keepsStatements: false }],
])("a pooler that works %s is recognized", async (_how, { sharesSessions, keepsStatements }) => {
  const pooler = await ScriptedPooler.start({ sharesSessions, keepsStatements });
  onTestFinished(() => pooler.stop());
  expect(await examinePooler(pooler.url, 5_000)).toEqual({
    sharesSessions,
    // A client that keeps its session also keeps its statements.
    keepsPreparedStatements: keepsStatements || !sharesSessions,
  });
});

test("a server without a pooler shares no sessions and keeps prepared statements", async () => {
  expect(await examinePooler(inject("postgresUrl"), 5_000)).toEqual({
    sharesSessions: false,
    keepsPreparedStatements: true,
  });
});

const settings = statement<{ statementMs: string; idleMs: string }>(
  "test_settings",
  "global",
  `SELECT current_setting('statement_timeout') AS "statementMs",
     current_setting('idle_in_transaction_session_timeout') AS "idleMs"`,
  "each-time",
);

test.each(["the server itself", "a pooler"])(
  "over a connection to %s, each statement has the time limit of its kind of work",
  async (way) => {
    const proxy = await TcpProxy.before(inject("postgresUrl"));
    onTestFinished(() => proxy.stop());
    if (way === "a pooler") inventProcess(proxy);
    let poolerCount = 0;
    const database = openPostgres({
      databaseUrl: proxy.url,
      poolSize: 3,
      timeoutMs: 7_000,
      readTimeoutMs: 3_000,
      preparedStatements: false,
      onConnectionLost: () => {},
      onPooler: () => (poolerCount += 1),
      onFull: () => {},
      onWorker: () => {},
    });
    onTestFinished(() => database.close());

    const limits = { statementMs: "7s", idleMs: "7s" };
    expect(await database.query(settings, [])).toMatchObject([limits]);
    expect(await database.transaction((transaction) => transaction.query(settings, []))).toMatchObject([limits]);
    expect(await database.requests.query(settings, [])).toMatchObject([limits]);
    expect(await database.reader("x").query(settings, [])).toMatchObject([{ ...limits, statementMs: "3s" }]);
    expect(poolerCount).toBe(way === "a pooler" ? 3 : 0);
  },
);

test("a single statement through a pooler is committed before it is answered, and a failed one leaves its connection usable", async () => {
  const { url, remove } = await newDatabase("empty");
  onTestFinished(remove);
  const proxy = await TcpProxy.before(url);
  onTestFinished(() => proxy.stop());
  inventProcess(proxy);
  const database = openPostgres({
    databaseUrl: proxy.url,
    poolSize: 3,
    timeoutMs: 5_000,
    readTimeoutMs: 5_000,
    preparedStatements: true,
    onConnectionLost: () => {},
    onPooler: () => {},
    onFull: () => {},
    onWorker: () => {},
  });
  onTestFinished(() => database.close());
  await createNotes(database);
  await addNote(database, "kept");
  await expect(database.query(said("SELECT 1 / 0"), [])).rejects.toMatchObject({ code: "22012" });
  await expect(database.query(said("INSERT INTO note (content) VALUES (NULL)"), [])).rejects.toMatchObject({
    code: "23502",
  });
  await addNote(database, "kept as well");
  const { rows } = await onServer(url, (client) => client.query("SELECT content FROM note ORDER BY content"));
  expect(rows.map(({ content }) => content)).toEqual(["kept", "kept as well"]);
  const sessions = await onServer(url, (client) =>
    client.query("SELECT FROM pg_stat_activity WHERE application_name = 'stepwell' AND datname = current_database()"),
  );
  expect(sessions.rowCount).toBe(1);
});

/** Invents a process number in BackendKeyData, as a pooler does. */
function inventProcess(proxy: TcpProxy): void {
  const start = Buffer.from([0x4b, 0, 0, 0, 12]);
  proxy.changeAnswers((answer) => {
    const at = answer.indexOf(start);
    if (at >= 0) answer.writeInt32BE(1, at + start.length);
    return answer;
  });
}
