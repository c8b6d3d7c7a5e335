import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { withoutTurns } from "../faults/turned-off.ts";
import { type Ground, type HostileTenant, inTurn } from "./hostile-tenant.ts";

/** Submits jobs over 4 connections. Each job has a forEach over 10,000 items, with as many open branches as are allowed. */
export const wideForks: HostileTenant = {
  name: "wide-forks",
  fix: {
    sentence: "An organization whose commands take long rests afterwards.",
    turnedOffBy: withoutTurns,
  },
  async prepare({ api, organizationId, requests }: Ground) {
    const anything = { $ref: "#/definitions/anything" };
    const typed = { inputDefinition: anything, outputDefinition: anything };
    const config = { items: "${ input.items }", step: "body", concurrency: maxConcurrency, output: "counts" };
    const definition = {
      workflowName: "wide-fork",
      steps: [
        { name: "each", integrationDetails: { type: "/service/forEach", config, ...typed }, transitionToStep: null },
        { name: "body", integrationDetails: { type: "/service/noop", ...typed }, transitionToStep: null },
      ],
      definitions: { anything: {} },
    };
    const workflowId = await registerWorkflow(api, organizationId, definition);
    const items = Array.from({ length: itemCount }, (_, index) => index);
    const request = Buffer.from(
      requests.post(`/organizations/${organizationId}/jobs`, { workflowId, inputJson: { items } }),
    );
    return (traffic) => traffic.keepAsking(4, inTurn([request]));
  },
};

const itemCount = 10_000;
const maxConcurrency = 1_000;
