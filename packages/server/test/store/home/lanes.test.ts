import { randomUUID } from "node:crypto";
import { addNote, createNotes, readNotes } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onEveryStore, postgresHome } from "@stepwell/testing/stores.ts";
import pg from "pg";
import { describe, expect, test } from "vitest";
import {
  type Queryable,
  ReadDeadlineError,
  StatementGivenUpError,
  statement,
} from "../../../src/store/home/database.ts";
import { ReadLane, sharedLanes } from "../../../src/store/home/lanes.ts";
import { laneSizes } from "../../../src/store/home/postgres.ts";

const sleep = statement<{ slept: string }>("test_sleep", "global", "SELECT pg_sleep($1)::text AS slept", "each-time");
const backendOf = statement<{ pid: number }>("test_backend", "global", "SELECT pg_backend_pid() AS pid", "each-time");

/** Tracks whether all of these reads have ended. */
function underWay(reads: readonly Promise<unknown>[]) {
  const state = { isOver: false, end: Promise.allSettled(reads) };
  void state.end.then(() => {
    state.isOver = true;
  });
  return state;
}

test("an organization's reading time does not include other work between its statements", async () => {
  const pool = new pg.Pool();
  let now = 0;
  const bounds = { maxRunning: 1, maxRunningPerOrganization: 1, deadlineMs: 500 };
  const reads = new ReadLane({ pool, run: (work) => work() }, bounds, () => now);
  const organizationId = randomUUID();
  const read = async () => {
    now += 1;
    setImmediate(() => {
      now += 1_000;
    });
    return "read";
  };
  for (let count = 0; count < 10; count += 1) {
    expect(await reads.forRead(organizationId).run(read)).toBe("read");
  }
});

test("work on the only session that takes longer than 10 ms lets the event loop turn before the next work begins", async () => {
  let now = 0;
  const { engine, requests } = sharedLanes(new pg.Pool(), { requests: 1_000, reads: 1_000 }, () => now);
  const order: string[] = [];
  const work = (name: string) => async () => {
    now += 4;
    order.push(name);
  };
  setImmediate(() => order.push("turn"));
  const all = [
    engine.run(work("first")),
    requests.run(work("last")),
    engine.run(work("second")),
    engine.run(work("third")),
  ];
  await Promise.all(all);
  expect(order).toEqual(["first", "second", "third", "turn", "last"]);
});

test.each([
  ["alone", false, 3],
  ["while others read", true, 1],
] as const)(
  "an organization that has just read for more than a second, %s, has as many reads under way as it may",
  async (_name, hasOther, count) => {
    let now = 0;
    const bounds = { maxRunning: 4, maxRunningPerOrganization: 3, deadlineMs: 5_000 };
    const reads = new ReadLane({ pool: new pg.Pool(), run: (work) => work() }, bounds, () => now);
    const [own, other] = [randomUUID(), randomUUID()];
    await reads.forRead(own).run(async () => {
      now += 1_200;
    });
    if (hasOther) await reads.forRead(other).run(async () => {});
    let begun = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const all = Array.from({ length: 3 }, () =>
      reads.forRead(own).run(() => {
        begun += 1;
        return promise;
      }),
    );
    await new Promise((turn) => setImmediate(turn));
    expect(begun).toBe(count);
    resolve();
    await Promise.all(all);
    expect(begun).toBe(3);
  },
);

describe("on a PostgreSQL server", () => {
  const service = useService(postgresHome, { STEPWELL_READ_TIMEOUT_MS: "2000" });
  const sleeps = (db: Queryable, seconds: number, count: number) =>
    Array.from({ length: count }, () => db.query(sleep, [seconds]));

  test("commits, requests and the heartbeat go on while two organizations hold all connections for reads", async () => {
    const { api } = await service.newOrganization();
    const { database } = service.running;
    const reads = underWay([1, 2].flatMap(() => sleeps(database.reader(randomUUID()), 1.8, 20)));
    for (let count = 0; count < 5; count += 1) {
      await database.query(backendOf, []);
      await api.call("RegisterWorkflow", { body: { name: `workflow ${count}` } });
      await api.callAny("GetReadiness", {}).then(({ status }) => expect(status).toBe(200));
    }
    expect(reads.isOver).toBe(false);
    await reads.end;
  });

  test("one organization's long reads leave connections for another's", async () => {
    const { database } = service.running;
    const reads = underWay(sleeps(database.reader(randomUUID()), 1.8, 20));
    await database.reader(randomUUID()).query(backendOf, []);
    expect(reads.isOver).toBe(false);
    await reads.end;
  });

  test("a read that exceeds its time is aborted, whether it ran or waited for its turn", async () => {
    const { database } = service.running;
    const organizationId = randomUUID();
    const reads = await Promise.allSettled(sleeps(database.reader(organizationId), 9, 4));
    for (const read of reads) {
      expect(read.status).toBe("rejected");
      expect(read.status === "rejected" && read.reason).toBeInstanceOf(ReadDeadlineError);
    }
    expect(await database.reader(organizationId).query(backendOf, [])).toHaveLength(1);
  });

  test.each([
    [3, { engine: 1, requests: 1, reads: 1 }],
    [8, { engine: 2, requests: 4, reads: 2 }],
    [12, { engine: 4, requests: 5, reads: 3 }],
    [200, { engine: 66, requests: 84, reads: 50 }],
  ])("%i connections are divided among the lanes", (poolSize, sizes) => {
    expect(laneSizes(poolSize)).toEqual(sizes);
  });
});

onEveryStore((home) => {
  const service = useService(home);

  test("organizations take turns, however many reads one of them requests", async () => {
    const { database } = service.running;
    const done: string[] = [];
    const read = (name: string, organizationId: string) =>
      database
        .reader(organizationId)
        .query(backendOf, [])
        .then(() => done.push(name));
    const [crowd, other] = [randomUUID(), randomUUID()];
    const all = () => Promise.all([...Array.from({ length: 50 }, () => read("crowd", crowd)), read("other", other)]);
    // The first time, all reads of `crowd` may have ended before the connection for the read of `other` is open.
    await all();
    done.length = 0;
    await all();
    expect(done.indexOf("other")).toBeLessThan(40);
  });
});

onEveryStore((home) => {
  const service = useService(home, { STEPWELL_READ_TIMEOUT_MS: "600" });

  test("a read of many statements is aborted at the end of its time", async () => {
    const reader = service.running.database.reader(randomUUID());
    const begun = performance.now();
    await expect(
      (async () => {
        while (performance.now() - begun < 20_000) await reader.query(backendOf, []);
      })(),
    ).rejects.toBeInstanceOf(ReadDeadlineError);
    expect(performance.now() - begun).toBeGreaterThan(500);
  }, 30_000);
});

/** A statement that reads 400 million pairs, which takes half a minute or more. */
const long = statement<{ count: number }>(
  "test_long",
  "global",
  "SELECT count(*) FROM generate_series(1, 20000) one, generate_series(1, 20000) other",
  "each-time",
);

/** A trigger that lets the database report a lack of memory when a workflow is registered. */
const createRefusal = statement(
  "test_create_refusal",
  "global",
  "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no memory' USING ERRCODE = '53200'; END $$",
);
const createRefusingTrigger = statement(
  "test_create_refusing_trigger",
  "global",
  "CREATE TRIGGER refuse BEFORE INSERT ON workflow FOR EACH ROW EXECUTE FUNCTION refuse()",
);
const dropRefusal = statement("test_drop_refusal", "global", "DROP FUNCTION refuse() CASCADE");

onEveryStore((home) => {
  const limitMs = 1_000;
  const service = useService(home, {
    STEPWELL_READ_TIMEOUT_MS: String(limitMs),
    STEPWELL_DATABASE_TIMEOUT_MS: String(limitMs),
  });

  async function expectGivenUp(work: () => Promise<unknown>, kind: new (...values: never[]) => Error): Promise<void> {
    const begun = performance.now();
    await expect(work()).rejects.toBeInstanceOf(kind);
    const tookMs = performance.now() - begun;
    expect(tookMs).toBeGreaterThan(limitMs * 0.9);
    // A busy machine may notice the limit late, but the whole statement would take three times as long as this bound.
    expect(tookMs).toBeLessThan(10 * limitMs);
  }

  test("a user's statement that takes too long is aborted, and the next one runs", async () => {
    const { database } = service.running;
    const { requests } = database;
    await expectGivenUp(() => database.reader(randomUUID()).query(long, []), ReadDeadlineError);
    await expectGivenUp(() => requests.query(long, []), StatementGivenUpError);
    expect(await requests.query(backendOf, [])).toHaveLength(1);
  });

  test("a statement that takes too long is aborted even if the process has loaded the code a second time", async () => {
    await import(`${new URL("../../../src/store/home/statement-watch.ts", import.meta.url).href}?copy`);
    await expectGivenUp(() => service.running.database.requests.query(long, []), StatementGivenUpError);
  });

  test("a request gets 503 with the reason when the database gives up a statement of it", async () => {
    const { database } = service.running;
    const { api } = await service.newOrganization();
    for (const refuse of [createRefusal, createRefusingTrigger]) await database.query(refuse, []);
    const { body } = await api.refused("RegisterWorkflow", "UnavailableError", { body: { name: "w" } });
    expect(body.detail).toMatch(/^The database gave up a statement of this request: .* Nothing was changed\./);
    await database.query(dropRefusal, []);
    await api.call("RegisterWorkflow", { body: { name: "w" } });
  });

  test("a transaction whose statement takes too long is rolled back completely", async () => {
    const { database } = service.running;
    await createNotes(database);
    const change = database.requests.transaction(async (transaction) => {
      await addNote(transaction, "lost");
      await transaction.query(long, []);
    });
    await expect(change).rejects.toBeInstanceOf(StatementGivenUpError);
    await database.requests.transaction((transaction) => addNote(transaction, "kept"));
    expect(await readNotes(database)).toEqual(["kept"]);
  });

  test("a statement that waits behind a long statement waits only until the time limit of the long one", async () => {
    const { database } = service.running;
    const begun = performance.now();
    const reads = Array.from({ length: 2 }, () => database.reader(randomUUID()).query(long, []));
    const results = Promise.allSettled(reads);
    await service.client(undefined).call("GetReadiness", { status: 200 });
    await database.query(backendOf, []);
    expect((await results).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(performance.now() - begun).toBeLessThan(10 * limitMs);
  });
});
