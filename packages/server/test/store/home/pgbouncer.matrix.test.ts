import { randomUUID } from "node:crypto";
import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { newDatabase, type OwnDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { findPgBouncer, keepsStatements, PgBouncer } from "@stepwell/testing/postgres/pgbouncer.ts";
import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ReadDeadlineError, StatementGivenUpError, statement } from "../../../src/store/home/database.ts";

const program = findPgBouncer();
if (program === undefined) {
  process.stderr.write(
    "PgBouncer is not installed (Debian: apt-get install pgbouncer): that the service runs behind it is not tried here.\n",
  );
}

const sleep = statement<object>("test_sleep_pooled", "global", "SELECT pg_sleep($1)::text", "each-time");

describe.skipIf(program === undefined)("behind PgBouncer in transaction mode, without settings for the service", () => {
  const limitMs = 1_000;
  let database: OwnDatabase;
  let bouncer: PgBouncer;
  const services: TestService[] = [];

  beforeAll(async () => {
    if (program === undefined) return;
    database = await newDatabase("empty");
    // The pooler has fewer sessions than one node has connections, so that no connection keeps its session.
    bouncer = await PgBouncer.before(program, database.url, 4);
    const store = { environment: { DATABASE_URL: bouncer.url }, remove: async () => {} };
    for (let count = 0; count < 2; count += 1) {
      const service = new TestService(
        { name: "postgres", prepare: async () => store },
        {
          STEPWELL_PREPARED_STATEMENTS: String(keepsStatements(program)),
          STEPWELL_DATABASE_TIMEOUT_MS: String(limitMs),
          STEPWELL_READ_TIMEOUT_MS: String(limitMs),
          STEPWELL_LOG_LEVEL: "silent",
        },
      );
      services.push(service);
      await service.start();
    }
  }, 60_000);

  afterAll(async () => {
    for (const service of services) await service.stop();
    await bouncer?.stop();
    await database?.remove();
  });

  const [first, second] = [() => services[0] as TestService, () => services[1] as TestService];

  test("two nodes migrate an empty database, and jobs run, wait, and are read", async () => {
    const { api, organizationId, owner } = await first().newOrganization();
    const other = second().client(owner.token, { organizationId });
    const straight = await deploy(api, straightDefinition);
    const jobs = await Promise.all(
      Array.from({ length: 40 }, () =>
        api.call<JobBody>("SubmitJob", {
          body: { workflowId: straight.workflowId },
          headers: { "idempotency-key": randomUUID() },
        }),
      ),
    );
    for (const { body } of jobs) {
      const query = { waitSeconds: 20 };
      expect((await other.call("GetJob", { params: { jobId: body.jobId }, query })).body).toMatchObject({
        status: "SUCCEEDED",
      });
    }
    const { workflowId } = await deploy(api, waitingDefinition);
    const { jobId } = await submitAndWait(api, workflowId);
    await other.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
    await api.call("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
    expect((await api.call<{ jobs: unknown[] }>("ListJobs", { query: { pageSize: 100 } })).body.jobs).toHaveLength(41);
    expect((await other.call("VerifyAudit")).body).toMatchObject({ isIntact: true });
  });

  test("the server aborts statements that take too long: alone, in a transaction, and in a read", async () => {
    const { database: store } = first().running;
    const tooLong = [3 * (limitMs / 1_000)];
    await expect(store.requests.query(sleep, tooLong)).rejects.toBeInstanceOf(StatementGivenUpError);
    const change = store.transaction(async (transaction) => await transaction.query(sleep, tooLong));
    await expect(change).rejects.toBeInstanceOf(StatementGivenUpError);
    await expect(store.reader(randomUUID()).query(sleep, tooLong)).rejects.toBeInstanceOf(ReadDeadlineError);
    expect(await store.requests.query(sleep, [0])).toHaveLength(1);
  });

  test("shared sessions keep no settings of the service", async () => {
    const { database: store } = first().running;
    await Promise.all(Array.from({ length: 20 }, () => store.requests.query(sleep, [0.01])));
    const seen = await Promise.all(
      Array.from({ length: 8 }, () =>
        onServer(bouncer.url, async (client) => {
          const { rows } = await client.query(
            "SELECT current_setting('statement_timeout') || current_setting('lock_timeout') || current_setting('plan_cache_mode') AS settings, pg_sleep(0.05)::text",
          );
          return rows[0].settings as string;
        }),
      ),
    );
    expect(new Set(seen)).toEqual(new Set(["00auto"]));
  });
});
