import { integer } from "./setting.ts";

/** The settings that bound one request, one definition or one job; part of `settings`. */
export const sizeSettings = {
  maxBodyBytes: integer("STEPWELL_MAX_BODY_BYTES", 1024 * 1024, 1024, 64 * 1024 * 1024, "Request body."),
  maxJsonDepth: integer("STEPWELL_MAX_JSON_DEPTH", 64, 8, 512, "Nesting of JSON: deeper breaks writers and databases."),
  maxDefinitionBytes: integer("STEPWELL_MAX_DEFINITION_BYTES", 512 * 1024, 1024, 16 * 1024 * 1024, "One definition."),
  planCacheMb: integer(
    "STEPWELL_PLAN_CACHE_MB",
    128,
    8,
    1_000_000,
    "Memory for compiled definitions; one organization has half of it. Those that were used longest ago make room, and are compiled again when one of their jobs moves, in a few milliseconds as a rule.",
  ),
  maxSteps: integer("STEPWELL_MAX_STEPS", 500, 1, 10_000, "Steps of one definition."),
  maxEventIdsPerStep: integer("STEPWELL_MAX_EVENT_IDS_PER_STEP", 100, 1, 10_000, "Event ids of one wait step."),
  maxNameLength: integer("STEPWELL_MAX_NAME_LENGTH", 256, 16, 4_096, "Characters of a name or an event id."),
  maxOutputBytes: integer(
    "STEPWELL_MAX_OUTPUT_BYTES",
    1024 * 1024,
    1024,
    64 * 1024 * 1024,
    "A step's output, as JSON.",
  ),
  maxCarriedBytes: integer(
    "STEPWELL_MAX_CARRIED_BYTES",
    8 * 1024 * 1024,
    1024 * 1024,
    1024 * 1024 * 1024,
    "All values together that a job carries for later steps, as JSON. A node reads them whenever the job goes on.",
  ),
  maxEventsPerJob: integer(
    "STEPWELL_MAX_EVENTS_PER_JOB",
    10_000,
    1,
    1_000_000,
    "Events kept for one job. Those that no step of its version lists are counted apart, up to the same number.",
  ),
  maxStepRunsPerJob: integer(
    "STEPWELL_MAX_STEP_RUNS_PER_JOB",
    10_000,
    1,
    1_000_000,
    "Visits of steps in one job: a loop that never ends must end.",
  ),
  maxDescendantsPerJob: integer(
    "STEPWELL_MAX_DESCENDANTS_PER_JOB",
    100_000,
    0,
    10_000_000,
    "Child jobs below one job that has no parent, on all ten levels together: workflows that begin jobs of each other must end.",
  ),
  maxWaitSeconds: integer(
    "STEPWELL_MAX_WAIT_SECONDS",
    60,
    1,
    3_600,
    "waitSeconds of a request: below the usual proxy timeout.",
  ),
  maxWaitingRequests: integer(
    "STEPWELL_MAX_WAITING_REQUESTS",
    10_000,
    1,
    1_000_000,
    "Requests and streams that wait for jobs on this node at once. A stream of several jobs counts once for each of them. One organization has half of them at most, and never more than are still free: so others find a place.",
  ),
};
