export { type ClientOptions, createClient, type Job, StepwellClient } from "./client.ts";
export { type Problem, StepwellError } from "./error.ts";
export type { components, operations, paths } from "./generated/api.ts";
