import type { Example } from "./example.ts";

/** Examples of the operations that describe the service itself, and of limits and metrics. */
export const serviceExamples: Readonly<Record<string, Example>> = {
  GetLiveness: { answer: { status: "live" } },
  GetReadiness: { answer: { status: "ready" } },
  GetOpenApiDocument: { answer: { openapi: "3.1.0", info: { title: "Stepwell" }, paths: {} } },
  ListExecutors: {
    answer: {
      executors: [
        {
          type: "/service/waitForEventIds",
          title: "Wait for events",
          summary:
            "Waits until the events that it lists, or some of them, have been sent; the output is the input with properties from the events.",
          behaviour: "wait",
          configSchema: {
            type: "object",
            properties: {
              eventIds: {
                description: "The ids of the events that the step waits for, each once.",
                type: "array",
                items: { type: "string", minLength: 1, maxLength: 256, pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]*$" },
                minItems: 1,
                maxItems: 100,
              },
              match: {
                description: "How many of the events the step needs: all (the default), any, or a number.",
                anyOf: [{ enum: ["all", "any"] }, { type: "integer", minimum: 1, maximum: 100 }],
              },
              payloadDefinitions: {
                description: "For each event id, the definition that the event's payload must fit.",
                type: "object",
                additionalProperties: {
                  type: "object",
                  properties: { $ref: { type: "string", description: "The definition: #/definitions/<name>." } },
                  required: ["$ref"],
                  additionalProperties: false,
                },
              },
              timeoutSeconds: {
                description:
                  "The time after which the wait fails with Timeout. Without it, the step waits for ever, unless the step itself or the workflow definition has a `timeoutSeconds` of its own.",
                type: "number",
                exclusiveMinimum: 0,
                maximum: 31536000,
              },
            },
            required: ["eventIds"],
            additionalProperties: false,
          },
          expressionFields: ["eventIds"],
          needsInput: false,
          disallowedConfigFields: [],
        },
      ],
    },
  },
  ListExpressionFunctions: {
    answer: {
      functions: [
        {
          name: "size",
          forms: "both",
          signature: "size(value)",
          summary: "The number of characters of a text, of items of a list, or of properties of a map.",
          example: { expression: 'size("😀") + size([1, 2])', value: 3 },
        },
      ],
    },
  },
  GetRateLimits: {
    answer: {
      rateLimits: [
        { scope: "organization", policy: "requests", limitPerMinute: 1500000, usedCount: 210 },
        { scope: "organization", policy: "submits", limitPerMinute: 750000, usedCount: 7 },
        { scope: "user", policy: "requests", limitPerMinute: 1500000, usedCount: 210 },
        { scope: "user", policy: "submits", limitPerMinute: 750000, usedCount: 7 },
      ],
      resetsAt: "2026-03-02T09:00:18.009Z",
    },
  },
  GetLimits: {
    answer: {
      limits: [
        { name: "apiTokens", maximum: 1000, usedCount: 1, scope: "organization", isOwn: false },
        { name: "oauthClients", maximum: 50, usedCount: 0, scope: "organization", isOwn: false },
        { name: "members", maximum: 5000, usedCount: 1, scope: "organization", isOwn: false },
        { name: "openInvitations", maximum: 1000, usedCount: 0, scope: "organization", isOwn: false },
        { name: "roles", maximum: 100, usedCount: 0, scope: "organization", isOwn: false },
        { name: "workflows", maximum: 5000, usedCount: 3, scope: "organization", isOwn: false },
        { name: "versionsPerWorkflow", maximum: 10000, usedCount: 1, scope: "workflow", isOwn: false },
        { name: "tagsPerWorkflow", maximum: 1000, usedCount: 1, scope: "workflow", isOwn: false },
        { name: "waitingRequests", maximum: 5000, usedCount: 0, scope: "node", isOwn: false },
        { name: "storedMb", maximum: 100000, usedCount: 1, scope: "organization", isOwn: false },
        { name: "planMemoryMb", maximum: 64, usedCount: 1, scope: "node", isOwn: false },
      ],
    },
  },
  GetMetrics: {
    answer: {
      metric: "jobs_submitted",
      bucket: "day",
      from: "2026-03-01T00:00:00.000Z",
      to: "2026-03-03T00:00:00.000Z",
      aggregation: "sum",
      points: [
        { at: "2026-03-01T00:00:00.000Z", value: 0 },
        { at: "2026-03-02T00:00:00.000Z", value: 3 },
      ],
    },
  },
};
