import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { deploy } from "../support/flow.ts";
import { useCluster, byWayOf } from "./cluster.ts";
import { callingDefinition, FunctionServer } from "./function-server.ts";
import { onServer } from "../support/postgres-server.ts";
const functions = await FunctionServer.start();
afterAll(() => functions.stop());
const cluster = useCluster(2, { ...functions.environment, STEPWELL_LOG_LEVEL: "debug", STEPWELL_DRAIN_SECONDS: "0", STEPWELL_LEASE_MS: "1000", STEPWELL_HEARTBEAT_MS: "200" });
test("dbg", async () => {
  const org = await cluster.node(0).newOrganization();
  const { api } = org;
  const { workflowId } = await deploy(api, callingDefinition("held"));
  const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  for (let i = 0; i < 6; i++) {
    const call = await Promise.race([functions.nextCall(body.jobId), new Promise<any>((r) => setTimeout(r, 3000))]);
    console.log("call", i, call?.attempt);
    await onServer(cluster.databaseUrl, async (c) => {
      console.log(JSON.stringify([(await c.query("select node_id, clock_timestamp()-heartbeat_at as age from node")).rows, (await c.query("select node_id, status, sequence, lease_epoch, state from job")).rows, functions.calls.length]));
      console.log((await c.query("UPDATE job SET node_id = $1 WHERE job_id = $2", [randomUUID(), body.jobId])).rowCount);
    });
  }
  const h = await api.call("GetJobHistory", { params: { jobId: body.jobId } });
  console.log(JSON.stringify(h.body));
  expect(1).toBe(1);
});
