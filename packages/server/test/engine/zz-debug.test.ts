import { afterAll, expect, test } from "vitest";
import { deploy } from "../support/flow.ts";
import { useCluster } from "./cluster.ts";
import { callingDefinition, FunctionServer } from "./function-server.ts";
const functions = await FunctionServer.start();
afterAll(() => functions.stop());
const cluster = useCluster(2, { ...functions.environment, STEPWELL_LOG_LEVEL: "debug", STEPWELL_DRAIN_SECONDS: "0" });
test("dbg", async () => {
  const { api } = await cluster.node(0).newOrganization();
  const { workflowId } = await deploy(api, callingDefinition("held"));
  const { body } = await api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
  const call = await functions.nextCall(body.jobId);
  console.log(call);
  const h = await api.call("GetJobHistory", { params: { jobId: body.jobId } });
  console.log(JSON.stringify(h.body, null, 1));
  expect(1).toBe(1);
});
