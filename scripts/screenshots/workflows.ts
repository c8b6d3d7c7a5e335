import { readFileSync } from "node:fs";
import { schemas } from "./schemas.ts";

export type WorkflowName = "order-approval" | "order-fulfilment" | "nightly-report" | "ledger-sync" | "refund";
export type WorkflowIds = Readonly<Record<WorkflowName, string>>;

/** An example of the repository. It and the workflows below belong to the shop that the screenshots show. */
export const orderApproval = readFileSync(
  new URL("../../examples/order-approval/workflow.json", import.meta.url),
  "utf8",
);

const retry = { maxAttempts: 4, initialIntervalSeconds: 1, backoffRate: 2, jitter: true };

/** A workflow with steps for failures, and a wait for two events. */
export const orderFulfilment = written("order-fulfilment", {
  "reserve-stock": call("reserve-stock", "order", "reservation", {
    next: "charge-card",
    retry,
    onFailure: "tell-sold-out",
  }),
  "charge-card": call("charge-card", "reservation", "payment", {
    next: "await-handover",
    retry,
    onFailure: "release-stock",
  }),
  "await-handover": {
    ...wait(["courier.picked-up", "invoice.sent"], "payment", "close-order"),
    timeoutSeconds: 259_200,
    onFailure: "call-courier",
  },
  "call-courier": call("call-courier", "payment", "payment", { next: "await-handover" }),
  "close-order": noop("payment", null),
  "release-stock": call("release-stock", "reservation", "reservation", { next: "tell-sold-out" }),
  "tell-sold-out": call("send-mail", "order", "order", { next: null }),
});

export const nightlyReport = written("nightly-report", {
  "collect-sales": call("collect-sales", "any", "any", { next: "render-report", retry }),
  "render-report": call("render-report", "any", "any", { next: "publish-report", timeoutSeconds: 120 }),
  "publish-report": call("publish-report", "any", "any", { next: null }),
});

export const ledgerSync = written("ledger-sync", {
  "read-ledger": noop("any", "post-entries"),
  "post-entries": call("post-entries", "any", "any", {
    next: null,
    retry: { maxAttempts: 6, initialIntervalSeconds: 900, backoffRate: 2 },
  }),
});

export const refund = written("refund", {
  "check-claim": noop("claim", "await-decision"),
  "await-decision": wait(["finance.approved"], "claim", "pay-back"),
  "pay-back": call("pay-back", "claim", "any", { next: null }),
});

function noop(schema: string, next: string | null): object {
  return { integrationDetails: { type: "/service/noop", ...data(schema, schema) }, transitionToStep: next };
}

function wait(eventIds: readonly string[], schema: string, next: string): object {
  const details = { type: "/service/waitForEventIds", config: { eventIds }, ...data(schema, schema) };
  return { integrationDetails: details, transitionToStep: next };
}

function call(functionName: string, input: string, output: string, { next, ...more }: Leading) {
  const config = { region: "eu-west-1", accountId: "123456789012", functionName };
  const integrationDetails = { type: "/service/cloud/function", config, ...data(input, output) };
  return { integrationDetails, ...more, transitionToStep: next };
}

/** The transition of a step, and its further fields. */
interface Leading {
  readonly next: string | null;
  readonly [more: string]: unknown;
}

function data(input: string, output: string): object {
  return { inputDefinition: { $ref: `#/definitions/${input}` }, outputDefinition: { $ref: `#/definitions/${output}` } };
}

function written(workflowName: string, steps: Readonly<Record<string, object>>): string {
  const used = JSON.stringify(steps);
  const named = Object.entries(steps).map(([name, step]) => ({ name, ...step }));
  const definitions = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.includes(`/${name}"`)));
  return JSON.stringify({ workflowName, steps: named, definitions }, null, 2);
}
