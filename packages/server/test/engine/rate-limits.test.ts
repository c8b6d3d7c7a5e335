import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import type { TestOrganization } from "@stepwell/testing/service.ts";
import { inOneMinute } from "@stepwell/testing/time/minute.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { setOrganizationLimits } from "../../src/store/access/organization-limits.ts";
import { readUsage } from "../../src/store/access/rate-usage.ts";
import { useCluster } from "./node/cluster.ts";

const limit = 1_200;
const submitLimit = 120;

/** The tolerance for several nodes together: 5% in both directions. */
const least = (exact: number) => exact * 0.95;
const most = (exact: number) => exact * 1.05;

interface Tally {
  admitted: number;
  refused: number;
}

/** Sends requests, `parallel` at a time, until `isEnough`. Returns how many were admitted and how many were rejected. */
async function load(
  send: () => Promise<Response>,
  parallel: number,
  isEnough: (tally: Tally) => boolean,
): Promise<Tally> {
  const tally: Tally = { admitted: 0, refused: 0 };
  const sender = async () => {
    while (!isEnough(tally)) {
      const response = await send();
      await response.arrayBuffer();
      if (response.status === 429) tally.refused += 1;
      else if (response.ok) tally.admitted += 1;
      else throw new Error(`Answered ${response.status}.`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, sender));
  return tally;
}

function reading(baseUrl: string, { organizationId, owner }: TestOrganization): () => Promise<Response> {
  const headers = { authorization: `Bearer ${owner.token}` };
  return () => fetch(`${baseUrl}/organizations/${organizationId}`, { headers });
}

function admittedBy(tallies: readonly Tally[]): number {
  return tallies.reduce((sum, { admitted }) => sum + admitted, 0);
}

describe("three nodes", () => {
  const cluster = useCluster(3, {
    STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE: String(limit),
    STEPWELL_TOKEN_REQUESTS_PER_MINUTE: "0",
    STEPWELL_TOKEN_SUBMITS_PER_MINUTE: String(submitLimit),
    STEPWELL_HEARTBEAT_MS: "100",
  });
  const nodes = () => [0, 1, 2].map((index) => cluster.node(index));

  /** All nodes must know of each other first: a node that thinks it is alone admits the whole limit by itself. */
  beforeAll(async () => {
    for (const node of nodes()) await vi.waitUntil(() => node.running.engine.nodeCount() === 3, { timeout: 10_000 });
  });

  test.each([
    { name: "evenly", parallel: [8, 8, 8] },
    { name: "unevenly", parallel: [16, 4, 1] },
    { name: "on one node", parallel: [16, 0, 0] },
  ])("admit as many requests as one node would, with a load that comes $name", async ({ parallel }) => {
    await inOneMinute(cluster.node(0), async () => {
      const organization = await cluster.node(0).newOrganization();
      const tallies = await Promise.all(
        nodes().map((node, index) =>
          load(reading(node.baseUrl, organization), parallel[index] ?? 0, ({ refused }) => refused >= 20),
        ),
      );
      expect(admittedBy(tallies)).toBeGreaterThanOrEqual(least(limit));
      expect(admittedBy(tallies)).toBeLessThanOrEqual(most(limit));
    });
  });

  test("are just as exact for a sudden burst above the limit", async () => {
    await inOneMinute(cluster.node(0), async () => {
      const organization = await cluster.node(0).newOrganization();
      const { workflowId } = await deploy(organization.api, straightDefinition);
      const { body } = await organization.api.call<{ token: string }>("CreateApiToken", {
        body: { name: "burst", permissions: ["job:submit"] },
      });
      const headers = { authorization: `Bearer ${body.token}`, "content-type": "application/json" };
      const submit = (baseUrl: string) => () =>
        fetch(`${baseUrl}/organizations/${organization.organizationId}/jobs`, {
          method: "POST",
          headers,
          body: JSON.stringify({ workflowId }),
        });
      const burst = ({ admitted, refused }: Tally) => admitted + refused > 0;
      const tallies = await Promise.all(
        nodes().map((node, index) => load(submit(node.baseUrl), [250, 60, 20][index] ?? 0, burst)),
      );
      expect(admittedBy(tallies)).toBeGreaterThanOrEqual(least(submitLimit));
      expect(admittedBy(tallies)).toBeLessThanOrEqual(most(submitLimit));
      // Exactly the admitted jobs exist.
      const { body: list } = await organization.api.call("ListJobs", { query: { includeTotal: true } });
      expect(list.totalCount).toBe(admittedBy(tallies));
    });
  });

  test("run no statement for an organization far from its limits, and each shows the total use of an organization near its limits", async () => {
    await inOneMinute(cluster.node(0), async () => {
      const far = await cluster.node(0).newOrganization();
      const near = await cluster.node(0).newOrganization();
      const { database, engine } = cluster.node(0).running;
      for (const node of nodes()) {
        await load(reading(node.baseUrl, far), 1, ({ admitted }) => admitted >= 6);
        await load(reading(node.baseUrl, near), 1, ({ admitted }) => admitted >= 100);
      }
      const minute = Math.floor(engine.now() / 60_000) * 60_000;
      const keyOf = ({ organizationId }: TestOrganization) => `organization/${organizationId}/requests`;
      const rows = await readUsage(database, minute, [keyOf(far), keyOf(near)]);
      expect(rows.map(({ subject }) => subject)).toEqual([keyOf(near)]);

      for (const node of nodes()) {
        const asking = node.client(near.owner.token, { organizationId: near.organizationId });
        const { body } = await asking.call<{ rateLimits: { usedCount: number }[] }>("GetRateLimits");
        const used = body.rateLimits[0]?.usedCount ?? 0;
        expect(used).toBeGreaterThanOrEqual(300);
        // A reserved request counts as used until the node gives it back.
        expect(used).toBeLessThanOrEqual(303 + limit / 20);
      }
    });
  });

  test("all apply the operator's limits for one organization", async () => {
    const { organizationId, owner } = await cluster.node(0).newOrganization();
    const limits = { organizationId, requestsPerMinute: 777, submitsPerMinute: 0, maximums: {} };
    await setOrganizationLimits(cluster.node(0).running.database, limits);
    for (const node of nodes()) {
      const policy = async () =>
        (await node.client(owner.token, { organizationId }).call("GetOrganization")).headers.get("ratelimit-policy");
      await expect.poll(policy, { timeout: 10_000, interval: 200 }).toBe('"requests";q=777;w=60');
    }
  });
});

inWholeMatrix(() => {
  describe("when nodes stop", () => {
    const cluster = useCluster(2, {
      STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE: String(limit),
      STEPWELL_TOKEN_REQUESTS_PER_MINUTE: "0",
      STEPWELL_HEARTBEAT_MS: "100",
    });

    /** Lets a node take a share of the load and then leave. The other nodes go on until they reject requests. */
    async function admittedAround(
      leaving: { readonly baseUrl: string },
      organization: TestOrganization,
      go: () => Promise<unknown>,
    ): Promise<number> {
      const staying = [0, 1].map((index) => cluster.node(index));
      for (const node of staying) await vi.waitUntil(() => node.running.engine.nodeCount() >= 3, { timeout: 10_000 });
      const before = await Promise.all(
        [leaving, ...staying].map((node, index) =>
          load(reading(node.baseUrl, organization), 4, ({ admitted }) => admitted >= ([200, 100, 50][index] ?? 0)),
        ),
      );
      await go();
      const after = await Promise.all(
        staying.map((node) => load(reading(node.baseUrl, organization), 8, ({ refused }) => refused >= 20)),
      );
      return admittedBy([...before, ...after]);
    }

    test("the limit holds after one node stops", { timeout: 60_000 }, async () => {
      await inOneMinute(cluster.node(0), async () => {
        const organization = await cluster.node(0).newOrganization();
        const third = await cluster.addNode();
        const admitted = await admittedAround(third, organization, () => cluster.stopNode(third));
        expect(admitted).toBeGreaterThanOrEqual(least(limit));
        expect(admitted).toBeLessThanOrEqual(most(limit));
      });
    });

    test("the limit holds after one node is killed", { timeout: 60_000 }, async () => {
      await inOneMinute(cluster.node(0), async () => {
        const organization = await cluster.node(0).newOrganization();
        const third = await cluster.addProcess();
        const admitted = await admittedAround(third.ready, organization, () => third.kill());
        expect(admitted).toBeGreaterThanOrEqual(least(limit));
        expect(admitted).toBeLessThanOrEqual(most(limit));
      });
    });
  });
});
