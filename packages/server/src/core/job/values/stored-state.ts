import { mainBranch, withAround } from "../../branch-path.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";
import { withoutOwn } from "../../json/record.ts";
import { propertyOf } from "../../plan/slots.ts";
import type {
  CancelledState,
  Carried,
  CurrentStep,
  FailedState,
  ForkedStep,
  JobState,
  PendingState,
  Progress,
  ResumePoint,
  RunningState,
  SucceededState,
} from "../job-state.ts";
import type { AnyCursor } from "../resume-point.ts";
import { isUnread, unreadValue } from "./unread-value.ts";

/** A job's state as it is stored. When a value has a row of its own, it is left out of its place, and `values` has its number. */
export type StoredState = LineState & {
  readonly values?: ValueNumbers;
  /** The branches that are open. Left out while there are none. */
  readonly branches?: readonly StoredBranch[];
};

/**
 * The state of a job without a cursor object for the main line. The fields of that cursor are in the state itself. Nearly every job has only a main
 * line, and this form makes its state shorter.
 */
type LineState =
  | SucceededState
  | (Line<PendingState> & { readonly resumeAt: ResumePoint | null })
  | (Line<RunningState> & { readonly step: CurrentStep })
  | (Line<FailedState> & { readonly resumeAt: ResumePoint })
  | (Line<CancelledState> & { readonly resumeAt: ResumePoint | null });

type Line<State> = Omit<State, "cursors" | "progress"> & { readonly progress: Progress & Carried };

type StoredBranch = AnyCursor & { readonly values?: ValueNumbers };

/** A cursor without the values that have numbers, together with these numbers. */
export interface LeanCursor {
  readonly cursor: AnyCursor;
  readonly values: ValueNumbers | undefined;
}

/**
 * Returns the state as it is stored. `leave` removes from a cursor the values that have numbers, and returns the rest of the cursor and these
 * numbers.
 */
export function storedState(
  state: JobState,
  leave: (cursor: AnyCursor) => LeanCursor = (cursor) => ({ cursor, values: undefined }),
): StoredState {
  if (state.status === "SUCCEEDED") return state;
  const { cursors, progress, ...rest } = state;
  const [first, ...further]: readonly [AnyCursor, ...AnyCursor[]] = cursors;
  const main = leave(first);
  const others = further.map(leave);
  const { carried, stand } = main.cursor;
  const line = { ...rest, progress: { ...progress, ...carried } };
  const branches = others.map(({ cursor, values }) => ({ ...cursor, ...(values !== undefined && { values }) }));
  return {
    ...(state.status === "RUNNING" ? { ...line, step: stand } : { ...line, resumeAt: stand }),
    ...(main.values !== undefined && { values: main.values }),
    ...(branches.length > 0 && { branches }),
  } as StoredState;
}

export interface ValueNumbers {
  /** The input of the step where the branch is, or where it ended. */
  readonly input?: number;
  readonly previousOutput?: number;
  readonly lastOutput?: number;
  /** The items of the fork at which the branch is. */
  readonly items?: number;
  /** The numbers of the results of that fork's branches, by the key of the branch. */
  readonly results?: Readonly<Record<string, number>>;
  /** For each property, by its name: the number of the value that has the property. */
  readonly properties?: Readonly<Record<string, number>>;
  /** For each slot: the number of the stored value that is the slot's value, or that contains the slot's value as a property. */
  readonly slots?: Readonly<Record<string, number>>;
}

interface Places {
  readonly input?: JsonValue;
  readonly previousOutput?: JsonValue;
  readonly lastOutput?: JsonValue;
  readonly items?: JsonValue;
  readonly results?: JsonObject;
}

/** The values in a cursor, other than the carried properties and slots. */
export function placesIn({ carried: { lastOutput }, stand }: AnyCursor): Places {
  const point = pointIn(stand) as Places | null;
  return {
    ...(point?.input !== undefined && { input: point.input }),
    ...(point?.previousOutput !== undefined && { previousOutput: point.previousOutput }),
    ...(point?.items !== undefined && { items: point.items }),
    ...(point?.results !== undefined && { results: point.results }),
    ...(lastOutput !== undefined && { lastOutput }),
  };
}

/** Returns the cursor without the values that have numbers. */
export function withoutPlaces(cursor: AnyCursor, values: ValueNumbers): AnyCursor {
  const { lastOutput, properties, slots, ...carried } = cursor.carried;
  const numbered = new Set(Object.keys(values.properties ?? {}));
  const slotsLeft = slots && withoutOwn(slots, new Set(Object.keys(values.slots ?? {})));
  const left: Carried = {
    ...carried,
    properties: withoutOwn(properties, numbered) as JsonObject,
    ...(lastOutput !== undefined && values.lastOutput === undefined && { lastOutput }),
    ...(slotsLeft !== undefined && { slots: slotsLeft as JsonObject }),
  };
  const leave = <Point extends object>(point: Point): Point => {
    const { input, previousOutput, items, results, ...position } = point as Point & Places;
    const leftValues = {
      ...(input !== undefined && values.input === undefined && { input }),
      ...(previousOutput !== undefined && values.previousOutput === undefined && { previousOutput }),
      ...(items !== undefined && values.items === undefined && { items }),
      ...(results !== undefined && { results: withoutOwn(results, new Set(Object.keys(values.results ?? {}))) }),
    };
    return { ...position, ...leftValues } as unknown as Point;
  };
  return withPoint({ ...cursor, carried: left }, leave);
}

/** The place where a branch carries a value: one of the branch's carried properties, or one of its slots. */
export interface ValuePlaceName {
  readonly branch: string;
  readonly name: string;
  readonly isSlot: boolean;
}

/** Returns the value with this number, or one of its properties. `place` is the place of the returned value in the state. */
export type FindValue = (valueNumber: number, property?: string, place?: ValuePlaceName) => JsonValue;

/**
 * Returns the state as the state machine uses it. `find` returns the value with a number, or one of its properties. A call that an earlier release
 * wrote has no epoch of its own. It was the only call of its job, and has the job's epoch.
 */
export function withPlaces(
  { values, branches = [], ...line }: StoredState,
  leaseEpoch: number,
  find: FindValue,
): JobState {
  if (line.status === "SUCCEEDED") return line;
  const { progress: carriedAlong, ...state } = line;
  const { visits, properties, lastOutput, absentProperties, slots, ...progress } = carriedAlong;
  const carried: Carried = {
    visits,
    properties,
    ...(lastOutput !== undefined && { lastOutput }),
    ...(absentProperties !== undefined && { absentProperties }),
    ...(slots !== undefined && { slots }),
  };
  const stand = "step" in line ? withEpoch(line.step, leaseEpoch) : line.resumeAt;
  const main = withValues({ branch: mainBranch, carried, stand }, values, find);
  const others = branches.map(({ values: own, ...cursor }) => withValues(cursor, own, find));
  const { step: _, resumeAt: __, ...rest } = { step: undefined, resumeAt: undefined, ...state };
  return { ...rest, progress, cursors: [main, ...others] } as unknown as JobState;
}

function withValues(cursor: AnyCursor, values: ValueNumbers | undefined, find: FindValue): AnyCursor {
  if (values === undefined) return cursor;
  const { input, previousOutput, lastOutput, items, results = {}, properties = {}, slots = {} } = values;
  const { branch, carried } = cursor;
  const foundSlots = Object.entries(slots).map(
    ([slot, number]) => [slot, findSlot(find, branch, slot, number)] as const,
  );
  const found = Object.entries(properties).map(
    ([name, valueNumber]) => [name, find(valueNumber, name, { branch, name, isSlot: false })] as const,
  );
  const foundResults = Object.entries(results).map(([key, number]) => [key, find(number)] as const);
  const whole: Carried = {
    ...carried,
    properties: { ...carried.properties, ...Object.fromEntries(found) },
    ...(lastOutput !== undefined && { lastOutput: find(lastOutput) }),
    ...(foundSlots.length > 0 && { slots: { ...carried.slots, ...Object.fromEntries(foundSlots) } }),
  };
  return withPoint({ ...cursor, carried: whole }, (point) => ({
    ...point,
    ...(input !== undefined && { input: find(input) }),
    ...(previousOutput !== undefined && { previousOutput: find(previousOutput) }),
    ...(items !== undefined && { items: find(items) }),
    ...(foundResults.length > 0 && {
      results: { ...(point as Partial<ForkedStep>).results, ...Object.fromEntries(foundResults) },
    }),
  }));
}

/** A negative `valueNumber` is the number of an extract: one stored object with the values of several places, each under the name of its place. */
function findSlot(find: FindValue, branch: string, slot: string, valueNumber: number): JsonValue {
  return find(valueNumber, valueNumber < 0 ? slot : propertyOf(slot), { branch, name: slot, isSlot: true });
}

/** Returns the state with placeholders for the values that have rows of their own. */
export function unreadState({
  state,
  leaseEpoch,
}: {
  readonly state: StoredState;
  readonly leaseEpoch: number;
}): JobState {
  return withPlaces(state, leaseEpoch, unreadValue);
}

function withEpoch(step: CurrentStep, leaseEpoch: number): CurrentStep {
  return step.phase !== "calling" || step.epoch !== undefined ? step : { ...step, epoch: leaseEpoch };
}

/** The numbers of the values to which the state refers in these branches. */
export function numbersIn(state: StoredState, wanted: ReadonlySet<string>): number[] {
  return [
    ...new Set(
      valuesOf(state, wanted).flatMap(({ properties = {}, slots = {}, results = {}, ...others }) => [
        ...Object.values(others),
        ...Object.values(properties),
        ...Object.values(slots),
        ...Object.values(results),
      ]),
    ),
  ];
}

/** The numbers of the inputs of these branches' steps. */
export function inputNumbersIn(state: StoredState, wanted: ReadonlySet<string>): number[] {
  return valuesOf(state, wanted).flatMap(({ input }) => input ?? []);
}

function valuesOf({ values, branches = [] }: StoredState, wanted: ReadonlySet<string>): ValueNumbers[] {
  const all = [{ branch: mainBranch, values }, ...branches];
  return all.flatMap(({ branch, values: own }) => (own !== undefined && wanted.has(branch) ? [own] : []));
}

/** Whether the values of a branch, and of the branches around it, were read. Otherwise the branch cannot move in this commit. */
export function isRead(branch: string, cursorOf: (branch: string) => AnyCursor | undefined): boolean {
  return [...withAround(branch)].every((path) => countUnread(cursorOf(path)) === 0);
}

export function countUnread(cursor: AnyCursor | undefined): number {
  if (cursor === undefined) return 0;
  const { results = {}, ...places } = placesIn(cursor);
  const { properties, slots = {} } = cursor.carried;
  return [places, results, properties, slots].flatMap<JsonValue>((values) => Object.values(values)).filter(isUnread)
    .length;
}

/** Whether the state refers to values that have rows of their own. */
export function namesValues({ values, branches = [] }: StoredState): boolean {
  return values !== undefined || branches.some((branch) => branch.values !== undefined);
}

/** The point at which a branch is or, if it has stopped for now, at which it will continue. */
function pointIn(stand: AnyCursor["stand"]): object | null {
  return stand?.phase === "stopped" ? stand.point : stand;
}

/** Returns the cursor with its point changed. The point is the one that `pointIn` returns. */
function withPoint(cursor: AnyCursor, change: <Point extends object>(point: Point) => Point): AnyCursor {
  const { stand } = cursor;
  if (stand === null) return cursor;
  return { ...cursor, stand: stand.phase === "stopped" ? { ...stand, point: change(stand.point) } : change(stand) };
}
