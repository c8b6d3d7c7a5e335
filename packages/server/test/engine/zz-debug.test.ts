import { afterAll, expect, test } from "vitest";
import { deploy } from "../support/flow.ts";
import { useCluster, byWayOf } from "./cluster.ts";
import { callingDefinition, FunctionServer } from "./function-server.ts";
const functions = await FunctionServer.start();
afterAll(() => functions.stop());
const cluster = useCluster(2, { ...functions.environment, STEPWELL_LOG_LEVEL: "debug", STEPWELL_DRAIN_SECONDS: "0", STEPWELL_LEASE_MS: "1000", STEPWELL_HEARTBEAT_MS: "200" });
test("dbg", async () => {
  const org = await cluster.node(0).newOrganization();
  const { api } = org;
  const { workflowId } = await deploy(api, callingDefinition("held"));
  console.log("adding", performance.now());
  const dying = await cluster.addProcess();
  console.log("added", dying.ready, performance.now());
  const { body } = await byWayOf(dying, org).call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  const call = await functions.nextCall(body.jobId);
  console.log("called");
  await dying.kill();
  console.log("killed", performance.now());
  const { onServer } = await import("../support/postgres-server.ts");
  for (let i = 0; i < 6; i++) {
    await new Promise((r) => setTimeout(r, 500));
    await onServer(cluster.databaseUrl, async (c) => {
      console.log(JSON.stringify([(await c.query("select node_id, clock_timestamp()-heartbeat_at as age from node")).rows, (await c.query("select node_id, status, sequence, lease_epoch, state from job")).rows, functions.calls.length]));
    });
  }
  const second = await functions.nextCall(body.jobId);
  console.log("second", performance.now());
  second.succeed({});
  const h = await api.call("GetJobHistory", { params: { jobId: body.jobId } });
  console.log(JSON.stringify(h.body, null, 1));
  expect(1).toBe(1);
});
