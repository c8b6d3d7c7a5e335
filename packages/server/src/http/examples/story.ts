/*
 * All examples tell one story: Ada runs the workflow `order-approval` in the organization Acme, and invites Grace to it.
 */

/** The ids that appear in paths. */
export const ids = {
  organization: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a01",
  ada: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a02",
  grace: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a03",
  workflow: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a04",
  version: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a05",
  job: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a06",
  token: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a07",
  role: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a08",
  invitation: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a09",
  client: "stc_0352ExampleOrganizat_0352ExampleOAuthClient",
  userToken: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a0b",
  session: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a0c",
  task: "WyIwMTljYThiMi01YzAwLTdhMTAtOGYzZS0yYjZkNGM5ZTFiMDIiLDEsMSwidGFzayIsIiJd",
} as const;

const order = { sku: { type: "string" }, count: { type: "integer", minimum: 1 } };
const decided = { ...order, approved: { type: "boolean" }, comment: { type: "string" } };

function step(
  name: string,
  type: string,
  [input, output]: readonly [string, string],
  next: string | null,
  config = {},
) {
  const data = { inputDefinition: reference(input), outputDefinition: reference(output) };
  return { name, integrationDetails: { type, ...config, ...data }, transitionToStep: next };
}

function reference(name: string): object {
  return { $ref: `#/definitions/${name}` };
}

function orderOf(properties: object): object {
  return { type: "object", properties, required: ["sku", "count"], additionalProperties: false };
}

/** A shorter form of the sample workflow. */
export const definition = JSON.stringify({
  workflowName: "order-approval",
  steps: [
    step("check-order", "/service/noop", ["order", "order"], "approve"),
    step("approve", "/service/waitForEventIds", ["order", "decided-order"], "ship", {
      config: { eventIds: ["manager-approved"] },
    }),
    step("ship", "/service/noop", ["decided-order", "decided-order"], null),
  ],
  definitions: { order: orderOf(order), "decided-order": orderOf(decided) },
});
