import type { JsonObject, JsonValue } from "../json/json.ts";
import { withoutOwn } from "../json/record.ts";
import type { JobState, Progress } from "./job-state.ts";

/** A job's state as it is stored: where a value has a row of its own, `values` has its number, and the value's place is left out. */
export type StoredState = JobState & { readonly values?: ValueNumbers };

export interface ValueNumbers {
  /** The input of the step that the job is in, or in which it ended. */
  readonly input?: number;
  readonly previousOutput?: number;
  readonly lastOutput?: number;
  /** By the property's name: the value of which it is a property. */
  readonly properties?: Readonly<Record<string, number>>;
}

interface Places {
  readonly input?: JsonValue;
  readonly previousOutput?: JsonValue;
  readonly lastOutput?: JsonValue;
}

type UnfinishedState = Exclude<JobState, { status: "SUCCEEDED" }>;

/** The values in a state, besides the properties of its progress. */
export function placesIn(state: UnfinishedState): Places {
  const point: Places | null = state.status === "RUNNING" ? state.step : state.resumeAt;
  const { lastOutput } = state.progress;
  return {
    ...(point?.input !== undefined && { input: point.input }),
    ...(point?.previousOutput !== undefined && { previousOutput: point.previousOutput }),
    ...(lastOutput !== undefined && { lastOutput }),
  };
}

/** The state without the values that have numbers. */
export function withoutPlaces(state: UnfinishedState, values: ValueNumbers): StoredState {
  const { lastOutput, properties, ...progress } = state.progress;
  const numbered = new Set(Object.keys(values.properties ?? {}));
  const left: Progress = {
    ...progress,
    properties: withoutOwn(properties, numbered) as JsonObject,
    ...(lastOutput !== undefined && values.lastOutput === undefined && { lastOutput }),
  };
  const leave = <Point extends object>(point: Point): Point => {
    const { input, previousOutput, ...position } = point as Point & Places;
    const leftValues = {
      ...(input !== undefined && values.input === undefined && { input }),
      ...(previousOutput !== undefined && values.previousOutput === undefined && { previousOutput }),
    };
    return { ...position, ...leftValues } as unknown as Point;
  };
  return withPoint({ ...state, progress: left }, leave);
}

/** The state as the state machine knows it; `find` answers the value with a number, or one of its properties. */
export function withPlaces(
  { values, ...stored }: StoredState,
  find: (valueNumber: number, property?: string) => JsonValue,
): JobState {
  if (values === undefined || stored.status === "SUCCEEDED") return stored;
  const { input, previousOutput, lastOutput, properties = {} } = values;
  const { progress } = stored;
  const found = Object.entries(properties).map(([name, valueNumber]) => [name, find(valueNumber, name)] as const);
  const whole: Progress = {
    ...progress,
    properties: { ...progress.properties, ...Object.fromEntries(found) },
    ...(lastOutput !== undefined && { lastOutput: find(lastOutput) }),
  };
  return withPoint({ ...stored, progress: whole }, (point) => ({
    ...point,
    ...(input !== undefined && { input: find(input) }),
    ...(previousOutput !== undefined && { previousOutput: find(previousOutput) }),
  }));
}

/** The numbers of the values that the state names. */
export function numbersIn({ values }: StoredState): number[] {
  if (values === undefined) return [];
  const { properties = {}, ...others } = values;
  return [...new Set([...Object.values(others), ...Object.values(properties)])];
}

/** Changes the place at which the job is, or goes on. */
function withPoint(state: UnfinishedState, change: <Point extends object>(point: Point) => Point): JobState {
  if (state.status === "RUNNING") return { ...state, step: change(state.step) };
  return state.resumeAt === null ? state : ({ ...state, resumeAt: change(state.resumeAt) } as JobState);
}
