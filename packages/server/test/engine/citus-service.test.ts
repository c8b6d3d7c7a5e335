import { definitionOf, delayStep, noopStep, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, type JobBody, submitAndWait } from "@stepwell/testing/flow.ts";
import { type CitusStandIn, makeCitusStandIn, standInWorkers } from "@stepwell/testing/postgres/citus-stand-in.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import type { StoreHome } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";

let citus: CitusStandIn | undefined;

/** A store whose organizations are on two workers of a stand-in for Citus. */
const home: StoreHome = {
  name: "postgres",
  async prepare() {
    citus = await makeCitusStandIn();
    return { environment: { DATABASE_URL: citus.url }, remove: citus.remove };
  },
};

const service = useService(home);
const pause = definitionOf(delayStep("pause", { seconds: 0.2 }, "end"), noopStep("end", null));
/** An organization on each of the workers. */
const organizations = new Map<string, TestOrganization>();

beforeAll(async () => {
  while (organizations.size < standInWorkers.length) {
    const organization = await service.newOrganization();
    organizations.set(await workerOf(organization), organization);
  }
}, 60_000);

test.each(standInWorkers.map(({ host }) => host))(
  "jobs of an organization on %s sleep, wait and succeed",
  async (host) => {
    const { api } = organizationOn(host);
    const sleeping = await deploy(api, pause);
    expect(await submitAndWait(api, sleeping.workflowId)).toMatchObject({ status: "SUCCEEDED" });
    const waiting = await deploy(api, waitingDefinition);
    const { jobId, status } = await submitAndWait(api, waiting.workflowId);
    expect(status).toBe("RUNNING");
    await api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved", payload: {} } });
    const { body } = await api.call<JobBody>("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
    expect(body.status).toBe("SUCCEEDED");
  },
);

test("while one Citus worker is down, the timers of organizations on the other worker continue", async () => {
  const [first, second] = standInWorkers;
  const { api } = organizationOn(first.host);
  const { workflowId } = await deploy(api, pause);
  await citus?.client.query("INSERT INTO worker_down VALUES ($1)", [second.host]);
  expect(await submitAndWait(api, workflowId)).toMatchObject({ status: "SUCCEEDED" });
  await citus?.client.query("DELETE FROM worker_down");
});

function organizationOn(host: string): TestOrganization {
  const organization = organizations.get(host);
  if (organization === undefined) throw new Error(`No organization is on ${host}.`);
  return organization;
}

async function workerOf({ organizationId }: TestOrganization): Promise<string> {
  const found = await citus?.client.query<{ host: string }>(
    `SELECT nodename AS host FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
     WHERE logicalrelid = 'organization'::regclass AND uuid_hash($1) BETWEEN shardminvalue::integer AND shardmaxvalue::integer`,
    [organizationId],
  );
  return found?.rows[0]?.host ?? "";
}
