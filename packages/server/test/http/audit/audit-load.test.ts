import { onServer } from "@stepwell/testing/postgres/postgres-server.ts";
import { expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

const cluster = useCluster(1);

test("simultaneous requests for a verification share one run over the trail, whatever seals they expect", async () => {
  const { api } = await cluster.node(0).newOrganization();
  await onServer(cluster.databaseUrl, async (client) => {
    await client.query("BEGIN");
    await client.query("LOCK TABLE audit_seal IN ACCESS EXCLUSIVE MODE");
    const asked = Array.from({ length: 8 }, (_, index) =>
      api.call("VerifyAudit", index === 0 ? {} : { query: { expect: `${index}:${"0".repeat(64)}` } }),
    );
    const waitingRuns = async () => {
      // Within a transaction, PostgreSQL shows its sessions as they were at the first look, until this function is called.
      await client.query("SELECT pg_stat_clear_snapshot()");
      const { rowCount } = await client.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%seal_number > $2%' AND wait_event_type = 'Lock'",
      );
      return rowCount;
    };
    await expect.poll(waitingRuns).toBe(1);
    // When later requests are answered, all earlier ones have been admitted and have begun.
    for (let count = 0; count < 20; count += 1) await api.call("GetOrganization");
    expect(await waitingRuns()).toBe(1);
    await client.query("COMMIT");
    const intact = (await Promise.all(asked)).map(({ body }) => body.isIntact);
    expect(intact).toEqual([true, ...Array.from({ length: 7 }, () => false)]);
  });
});
