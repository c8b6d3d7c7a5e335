import { definitionOf, noopStep, waitStep } from "@stepwell/testing/definitions.ts";
import { type FunctionAnswer, type FunctionCall, functionStep } from "@stepwell/testing/functions/function-server.ts";

/*
 * The workflows of the stores that earlier builds wrote, and the functions that they call. They are used by the program that wrote these stores, and
 * by the test that opens them.
 */

const open = { type: "object" };
const text = { type: "string" };

/**
 * Calls, waits for two events, and calls again with the job's input, the output of an earlier step and the payload of an event, some of them large.
 */
export const orderDefinition = defined(
  [
    typed(
      functionStep("prepare", "prepare", "approve", {
        retry: { maxAttempts: 3, initialIntervalSeconds: 120, backoffRate: 1, jitter: false },
      }),
      "order",
      "prepared",
    ),
    typed(waitStep("approve", ["approved", "paid"], "ship"), "any", "decided"),
    typed(functionStep("ship", "ship", null), "shipment", "any"),
  ],
  {
    any: open,
    order: { type: "object", properties: { orderId: text, notes: text, mood: text }, required: ["orderId"] },
    prepared: { type: "object", properties: { orderId: text, document: text }, required: ["orderId", "document"] },
    decided: { type: "object", properties: { decision: text, comment: text } },
    shipment: {
      type: "object",
      properties: { orderId: text, document: text, notes: text, decision: text, comment: text },
      required: ["orderId", "document"],
      additionalProperties: false,
    },
  },
);

/** Loops until the call fails, which it does in a round with the number 3 or more. */
export const roundsDefinition = defined(
  [
    typed(waitStep("gate", ["go"], "count"), "any", "round"),
    typed(functionStep("count", "count", "gate", { onFailure: "done" }), "counted", "any"),
    noopStep("done", null),
  ],
  {
    any: open,
    round: { type: "object", properties: { round: { type: "integer" } } },
    counted: {
      type: "object",
      properties: { round: { type: "integer" } },
      required: ["round"],
      additionalProperties: false,
    },
  },
);

/** The timeout of this wait is over when the store is opened again. */
export const hastyDefinition = waitDefinition({ timeoutSeconds: 120, onFailure: "late" });

/** The timeout of this wait is not over when the store is opened again. */
export const patientDefinition = waitDefinition({ timeoutSeconds: 31_536_000, onFailure: "late" });

export const severalDefinition = definitionOf(
  waitOf("one", ["a", "b", "c"], "any", "two"),
  waitOf("two", ["x", "y", "z"], 2, "end"),
  noopStep("end", null),
);

/** The chain takes three commits, each of at most 200 steps. */
export const chainLength = 450;
export const chainDefinition = definitionOf(
  ...Array.from({ length: chainLength }, (_, index) =>
    noopStep(`step-${index}`, index + 1 < chainLength ? `step-${index + 1}` : null),
  ),
);

/** A definition that later releases reject, since compiling all its patterns takes longer than they allow. */
export const costlyDefinition = defined(
  [typed(waitStep("read", ["code"], "keep"), "any", "coded"), noopStep("keep", null)],
  {
    any: open,
    coded: {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [
          `code${index}`,
          { type: "string", pattern: `^\\pL{1,${100 + index}}$` },
        ]),
      ),
      required: ["code0"],
    },
  },
);

/**
 * Waits and sleeps in turn until an event tells it to stop, and then outputs values that the job has remembered for expressions. Builds without
 * expressions reject it.
 */
export const reviewDefinition = defined(
  [
    {
      ...typed(waitStep("review", ["reviewed"], "tell"), "any", "any"),
      transitionToStep: {
        choose: [{ if: "has(events.reviewed.payload) && events.reviewed.payload.again", then: "pause" }],
        else: "tell",
      },
    },
    typed(
      {
        name: "pause",
        integrationDetails: { type: "/service/delay", config: { seconds: 120 } },
        transitionToStep: "review",
      },
      "any",
      "any",
    ),
    typed(
      {
        name: "tell",
        integrationDetails: { type: "/service/transform" },
        input: {
          notes: "${ steps.review.input.notes }",
          by: "${ events.reviewed.payload.by }",
          hasPaused: "${ has(steps.pause.output) }",
        },
        transitionToStep: null,
      },
      "any",
      "any",
    ),
  ],
  { any: open },
);

export const documentOf = (orderId: string) => `The document of ${orderId}. `.repeat(200);

/** The answers of the functions. `held` handles the call for an order whose mood is `held`. */
export function functionAnswers(held: (call: FunctionCall) => void): Record<string, FunctionAnswer> {
  return {
    prepare(call) {
      const { orderId, mood } = call.input as { orderId: string; mood?: string };
      const prepared = { orderId, document: documentOf(orderId) };
      if (mood === "held") held(call);
      else if (mood === "unlucky" && call.attempt === 1) call.fail();
      else call.succeed(prepared);
    },
    ship(call) {
      const { notes, ...shipped } = call.input as { orderId: string; notes?: string };
      if (shipped.orderId.startsWith("fragile") && call.attempt === 1) call.fail();
      else call.succeed({ shipped, notesLength: notes?.length ?? 0 });
    },
    count(call) {
      const { round } = call.input as { round: number };
      if (round >= 3) call.fail();
      else call.succeed({ counted: round });
    },
  };
}

function waitDefinition(more: object): string {
  return definitionOf(
    { ...waitStep("sign", ["signed"], "end"), ...more },
    noopStep("end", null),
    noopStep("late", null),
  );
}

function waitOf(name: string, eventIds: readonly string[], match: "any" | number, transitionToStep: string): object {
  const step = waitStep(name, eventIds, transitionToStep) as { integrationDetails: { config: object } };
  const { integrationDetails } = step;
  return { ...step, integrationDetails: { ...integrationDetails, config: { ...integrationDetails.config, match } } };
}

function typed(step: object, input: string, output: string): object {
  const { integrationDetails } = step as { integrationDetails: object };
  const definitions = {
    inputDefinition: { $ref: `#/definitions/${input}` },
    outputDefinition: { $ref: `#/definitions/${output}` },
  };
  return { ...step, integrationDetails: { ...integrationDetails, ...definitions } };
}

function defined(steps: readonly object[], definitions: object): string {
  return JSON.stringify({ workflowName: "test", steps, definitions });
}
