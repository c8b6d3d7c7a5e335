import { costlyChecks } from "@stepwell/testing/costly/checks.ts";
import { registerWorkflow } from "@stepwell/testing/processes/api.ts";
import { withoutTurns } from "../faults/turned-off.ts";
import { type Ground, type HostileTenant, inTurn } from "./hostile-tenant.ts";

/** Submits the inputs that take longest to check against their schemas. */
export const slowValues: HostileTenant = {
  name: "slow-values",
  fix: {
    sentence:
      "An organization whose values take long to check rests afterwards, and has only a limited time for checks in each batch.",
    turnedOffBy: withoutTurns,
  },
  async prepare({ api, organizationId, requests }: Ground) {
    const asked: Buffer[] = [];
    for (const { name, schema, value } of costlyChecks()) {
      const definition = definitionOf(name, schema);
      // The service may reject a schema because it exceeds a bound. The tenant then does without this schema.
      const workflowId = await registerWorkflow(api, organizationId, definition).catch(() => undefined);
      const body = { workflowId, inputJson: { value } };
      if (workflowId !== undefined) {
        asked.push(Buffer.from(requests.post(`/organizations/${organizationId}/jobs`, body)));
      }
    }
    if (asked.length === 0) throw new Error("The service took none of the costly schemas: there is nothing to submit.");
    return (traffic) => traffic.keepAsking(8, inTurn(asked));
  },
};

function definitionOf(workflowName: string, schema: unknown) {
  const value = { $ref: "#/definitions/costly" };
  return {
    workflowName,
    steps: [
      {
        name: "only",
        integrationDetails: { type: "/service/noop", inputDefinition: value, outputDefinition: value },
      },
    ],
    definitions: { costly: { type: "object", properties: { value: schema } as object } },
  };
}
