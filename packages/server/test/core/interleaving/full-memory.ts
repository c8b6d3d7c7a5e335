import { levelOf, mainBranch, parentOf, pathsOf } from "../../../src/core/branch-path.ts";
import type { Resolvable } from "../../../src/core/definition/config-template.ts";
import { type Delay, delayEnd } from "../../../src/core/definition/delay.ts";
import type { ChildTerms, TaskTerms, WaitRule } from "../../../src/core/definition/executor-kind.ts";
import { handlerOf } from "../../../src/core/definition/failures/failure-handlers.ts";
import { isChoice } from "../../../src/core/definition/transition.ts";
import {
  Budget,
  type EventValues,
  renderTemplate,
  type Scope,
  type Template,
} from "../../../src/core/expression/expression.ts";
import { childIdOf } from "../../../src/core/job/child-job.ts";
import { choose } from "../../../src/core/job/expressions.ts";
import type { Change, EventChange, Fact } from "../../../src/core/job/fact.ts";
import type { Entry } from "../../../src/core/job/history.ts";
import type { StepError, WaitVisit } from "../../../src/core/job/job-state.ts";
import { waitOutput } from "../../../src/core/job/waits/wait-output.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/core/json/json.ts";
import { getOwn } from "../../../src/core/json/record.ts";
import { type ForkPlanStep, isFork, isWait, type Plan, type PlanStep } from "../../../src/core/plan/plan.ts";
import { checkValue, type Schema } from "../../../src/core/schema/schema.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import { toTime } from "../../../src/core/time.ts";
import { identity } from "../job/jobs.ts";
import { isEqual, limits, startedAt } from "./runs.ts";

/** One fact and what it changed, in the plain form. */
export interface Happened {
  readonly fact: Fact | undefined;
  readonly entries: readonly Entry<JsonValue>[];
  readonly change: Change;
}

/**
 * Reads a job's history with a complete memory. Checks by the rules of the language what each step received and returned, and which step the job
 * entered next. It shares no code for memory with the state machine, which forgets values that it no longer needs.
 */
export function checkByFullMemory(plan: Plan, jobInput: JsonObject, happened: readonly Happened[]): void {
  const memory = new FullMemory(plan, jobInput);
  for (const one of happened) memory.take(one);
}

type Kept = Extract<EventChange, { type: "kept" }>;

/** The visit that the line is in. */
interface Running {
  readonly step: PlanStep;
  readonly visit: number;
  readonly input: JsonValue;
  readonly inputError: string | undefined;
  readonly begunAt: Timestamp;
}

/** The values of a step's config in one visit. Which of these fields are set depends on what the step does. */
interface Meaning {
  readonly rule?: WaitRule;
  readonly delay?: Delay;
  readonly config?: JsonObject;
  readonly terms?: TaskTerms;
  readonly child?: ChildTerms;
}

interface Ended {
  readonly input: JsonValue;
  readonly output?: JsonValue;
  readonly error?: JsonValue;
}

/** The memory of one branch, or of the main line. */
interface Line {
  readonly path: string;
  /** The line in which the fork of this branch stands. */
  readonly around: Line | undefined;
  /** The item of the branch; undefined outside of a forEach. */
  readonly item: { readonly name: string; readonly item: JsonValue; readonly index: number } | undefined;
  /** The value with which the line begins. */
  readonly start: JsonValue;
  readonly visits: Map<string, number>;
  readonly ended: Map<string, Ended>;
  readonly events: Map<string, EventValues>;
  /** The outputs of its steps so far, the newest last. */
  readonly outputs: { readonly step: PlanStep; readonly output: JsonValue }[];
  caught: JsonValue | undefined;
  current: Running | undefined;
  next: string | null;
  /** The fork at which the line stands now. */
  fork: Fork | undefined;
}

interface Fork {
  readonly step: ForkPlanStep;
  readonly visit: number;
  readonly items: readonly JsonValue[];
  readonly begun: Set<string>;
  readonly results: Map<string, { readonly output: JsonValue } | { readonly error: JsonValue }>;
  readonly failedKeys: Set<string>;
  /** The failure with which the fork must fail now. */
  failing: { readonly code: string; readonly cause: { readonly step: string; readonly branch?: string } } | undefined;
}

function newLine(path: string, around: Line | undefined, next: string, start: JsonValue, item: Line["item"]): Line {
  const empty = { visits: new Map(), ended: new Map(), events: new Map(), outputs: [] };
  return { path, around, item, start, ...empty, caught: undefined, current: undefined, next, fork: undefined };
}

class FullMemory {
  readonly #plan: Plan;
  readonly #jobInput: JsonObject;
  readonly #lines = new Map<string, Line>();
  /** The line of the entry that is being checked. */
  #line: Line;
  readonly #kept = new Map<number, Kept>();
  /** The events that a wait consumed, or that another event with the same id made superfluous. */
  readonly #consumed = new Set<number>();
  readonly #keys = new Map<string, { readonly input: JsonValue; isOver: boolean }>();
  /** The ids of the child jobs, by the visits that began them. */
  readonly #children = new Map<string, string>();
  #epoch = 0;

  constructor(plan: Plan, jobInput: JsonObject) {
    this.#plan = plan;
    this.#jobInput = jobInput;
    this.#line = newLine(mainBranch, undefined, plan.firstStep.name, jobInput, undefined);
    this.#lines.set(mainBranch, this.#line);
  }

  take({ fact, entries, change }: Happened): void {
    const at = fact?.at ?? startedAt;
    for (const event of change.events) if (event.type === "kept") this.#kept.set(event.eventNumber, event);
    for (const entry of entries) this.#takeEntry(entry, at, fact, change);
    for (const effect of change.effects) {
      const owner = this.#keys.get(`${effect.branch} ${effect.step}:${effect.visit}`);
      require(owner !== undefined && !owner.isOver, `a call of ${effect.step} under the key of another visit`);
      require(isEqual(
        effect.input,
        owner.input,
      ), `${effect.step} called with another input`, effect.input, owner.input);
      // A branch may make a call and end in the same change.
      const line = this.#lines.get(effect.branch);
      if (line === undefined) continue;
      this.#line = line;
      const running = this.#running(effect.step, effect.visit);
      const { config, terms, child } = this.#meant(running);
      require(isEqual(effect.config, config), `${effect.step} called with another config`, effect.config, config);
      const task = terms && { ...terms, timeoutAt: null };
      require(isEqual(
        effect.task ?? null,
        task ?? null,
      ), `${effect.step} handed out in another way`, effect.task, task);
      const begun = child && { ...child, jobId: this.#childOf(running), timeoutAt: timeoutAt(running.step, at) };
      require(isEqual(effect.child ?? null, begun ?? null), `${effect.step} begins`, effect.child, begun);
      require(effect.epoch > this.#epoch, `the epoch ${effect.epoch} given twice`);
      this.#epoch = effect.epoch;
    }
    this.#checkWait(at, change);
  }

  /** The id of the child job of a visit; it is the same for every attempt, and different for every other visit. */
  #childOf({ step: { name }, visit, begunAt }: Running): string {
    const place = `${this.#line.path} ${name}:${visit}`;
    const known = this.#children.get(place);
    if (known !== undefined) return known;
    const made = childIdOf({ ...identity, branch: this.#line.path, step: name, visit }, begunAt);
    require(![...this.#children.values()].includes(made), `${name} begins the job of another visit`);
    this.#children.set(place, made);
    return made;
  }

  /** Checks that the main line waits only while events are missing, or until the payloads of its events are read. */
  #checkWait(at: Timestamp, { job: { state } }: Change): void {
    const main = this.#lines.get(mainBranch);
    if (state.status !== "RUNNING" || main?.current === undefined) return;
    const [{ stand }] = state.cursors;
    if (stand.phase !== "waiting") return;
    this.#line = main;
    this.#dropRepeated(state.progress.bufferedEvents);
    const { step, visit } = main.current;
    const { eventIds = [], requiredCount = 0 } = this.#meant(main.current).rule ?? {};
    const here = eventIds.filter((eventId) =>
      [...this.#kept].some(
        ([eventNumber, event]) =>
          event.eventId === eventId && !this.#consumed.has(eventNumber) && isFor(event, { step: step.name, visit }),
      ),
    );
    const isReading = stand.wakeAt !== null && stand.wakeAt <= at;
    require(isReading || here.length < requiredCount, `${step.name} waits in spite of ${here}`);
    const missing = eventIds.filter((eventId) => !here.includes(eventId));
    require(isEqual(stand.missingEventIds, missing), `${step.name} misses`, stand.missingEventIds, missing);
  }

  /** Branches may have claimed several events with one id. If none of these branches is open any more, the job keeps one of the events for other waits. */
  #dropRepeated(buffered: Readonly<Record<string, number>>): void {
    const free = [...this.#kept].filter(
      ([eventNumber, { address }]) => address === undefined && !this.#consumed.has(eventNumber),
    );
    for (const [eventId, events] of Map.groupBy(free, ([, event]) => event.eventId)) {
      if (events.length === 1) continue;
      const numbers = events.map(([eventNumber]) => eventNumber);
      const left = getOwn(buffered, eventId);
      require(left !== undefined && numbers.includes(left), `none of the events ${eventId} is left`);
      for (const eventNumber of numbers) if (eventNumber !== left) this.#consumed.add(eventNumber);
    }
  }

  #takeEntry(entry: Entry<JsonValue>, at: Timestamp, fact: Fact | undefined, change: Change): void {
    if ("step" in entry) this.#line = this.#lineOf(entry.branch ?? mainBranch, entry.type === "step.started");
    switch (entry.type) {
      case "step.forked":
        this.#beginFork(entry, at);
        return;
      case "step.started":
        this.#start(entry.step, entry.visit, entry.input, at);
        return;
      case "step.attemptStarted":
        this.#startAgain(at);
        return;
      case "step.waiting": {
        const { rule } = this.#meant(this.#running(entry.step, entry.visit));
        require(isEqual(entry.eventIds, rule?.eventIds), `${entry.step} waits for`, entry.eventIds, rule?.eventIds);
        const timeoutAt = rule?.timeoutMs === undefined ? undefined : at + rule.timeoutMs;
        require(entry.timeoutAt === timeoutAt, `${entry.step} waits until`, entry.timeoutAt, timeoutAt);
        return;
      }
      case "step.delayed": {
        const endsAt = this.#delayEnd(this.#running(entry.step, entry.visit));
        require(entry.delayEndsAt === endsAt, `${entry.step} sleeps until`, entry.delayEndsAt, endsAt);
        return;
      }
      case "step.succeeded":
        this.#succeed(entry, at, fact);
        return;
      case "step.failed":
        this.#fail(entry, at, fact, change);
        return;
    }
  }

  #lineOf(path: string, mayBegin: boolean): Line {
    const known = this.#lines.get(path);
    if (known !== undefined) return known;
    require(mayBegin, `the branch ${path} is over`);
    const level = levelOf(path);
    const around = this.#lines.get(parentOf(path));
    const fork = around?.fork;
    if (level === undefined || around === undefined || fork === undefined) throw new Error(`${path} has no fork.`);
    const { rule } = fork.step.work;
    const isIts = fork.step.name === level.fork && fork.visit === level.visit;
    const keys =
      rule.kind === "items" ? fork.items.map((_, index) => String(index)) : rule.branches.map(({ name }) => name);
    const place = keys.indexOf(level.key);
    require(isIts && place !== -1 && !fork.begun.has(level.key), `${path} is no branch of its fork, or began twice`);
    fork.begun.add(level.key);
    const isRoomy = rule.kind === "branches" || fork.begun.size - fork.results.size <= rule.concurrency;
    require(isRoomy, `${path} began beside too many others`);
    const item = { name: fork.step.name, item: fork.items[place] ?? null, index: place };
    const first = rule.kind === "items" ? rule.step : (rule.branches[place]?.step ?? "");
    const start = rule.kind === "items" ? item.item : (around.current?.input ?? null);
    const line = newLine(path, around, first, start, rule.kind === "items" ? item : undefined);
    this.#lines.set(path, line);
    return line;
  }

  /** The line of the entry and the lines around it, the innermost first. */
  get #chain(): readonly Line[] {
    const lines: Line[] = [];
    for (let line: Line | undefined = this.#line; line !== undefined; line = line.around) lines.push(line);
    return lines;
  }

  #beginFork(entry: Extract<Entry<JsonValue>, { type: "step.forked" }>, at: Timestamp): void {
    const { step, visit, input } = this.#running(entry.step, entry.visit);
    if (!isFork(step)) throw new Error(`${step.name} is no fork.`);
    const made = this.#itemsOf(step, input, at);
    require(!("error" in made), `${step.name} has branches in spite of ${JSON.stringify(made)}`);
    const { rule } = step.work;
    const count = rule.kind === "items" ? made.items.length : rule.branches.length;
    require(entry.branchCount === count, `${step.name} has ${entry.branchCount} branches instead of ${count}`);
    if (rule.kind === "items") require(isEqual(entry.items, made.items), "other items", entry.items, made.items);
    const fork = {
      step,
      visit,
      items: made.items,
      begun: new Set<string>(),
      results: new Map(),
      failedKeys: new Set<string>(),
    };
    this.#line.fork = { ...fork, failing: undefined };
  }

  #itemsOf({ name, work }: ForkPlanStep, input: JsonValue, at: Timestamp) {
    const { items } = work;
    if (!("template" in items)) return { items };
    const made = madeBy(items.template, this.#scope(at, { step: name, input }));
    if ("error" in made) return made;
    const list = isJsonObject(made.value) ? made.value.items : undefined;
    return Array.isArray(list) ? { items: list } : { error: "ExpressionFailed" };
  }

  /** Decides what the end or failure of a branch means for its fork. */
  #endLine(
    line: Line,
    result: { readonly output: JsonValue } | { readonly step: string; readonly error: StepError },
  ): void {
    const fork = line.around?.fork;
    const level = levelOf(line.path);
    if (fork === undefined || level === undefined) throw new Error(`${line.path} has no fork.`);
    const { rule } = fork.step.work;
    if ("output" in result) {
      fork.results.set(level.key, result);
      this.#lines.delete(line.path);
      return;
    }
    const { error, step } = result;
    const { code, message, type } = error;
    const cause = error.cause ?? { code, message, ...(type !== undefined && { type }), step, branch: line.path };
    if (rule.kind === "branches") {
      fork.failedKeys.add(level.key);
      if (rule.until === "all" || fork.failedKeys.size === rule.branches.length)
        fork.failing = { code: "BranchFailed", cause };
      return;
    }
    const failedCount = [...fork.results.values()].filter((one) => "error" in one).length;
    if (rule.onItemFailure === "fail") fork.failing = { code: "ItemFailed", cause };
    else if (failedCount >= (rule.maxFailures ?? Infinity)) fork.failing = { code: "TooManyFailures", cause };
    else {
      fork.results.set(level.key, { error: { ...cause } });
      this.#forget(line.path);
    }
  }

  /** Forgets a branch and all branches in it. */
  #forget(path: string): void {
    for (const other of this.#lines.keys())
      if (other === path || other.startsWith(`${path}/`)) this.#lines.delete(other);
  }

  #endFork(line: Line): void {
    const { fork } = line;
    line.fork = undefined;
    if (fork === undefined) return;
    const begin = pathsOf(line.path, fork.step.name, fork.visit);
    for (const path of [...this.#lines.keys()]) if (path.startsWith(begin)) this.#forget(path);
  }

  /** Returns the result of a fork when enough of its branches have ended; undefined before that. */
  #forkResult({ step, results, items }: Fork): JsonValue | undefined {
    const { rule } = step.work;
    if (rule.kind === "branches") {
      const given = [...results].flatMap(([name, one]) => ("output" in one ? [[name, one.output] as const] : []));
      if (rule.until === "any") return given[0] && { branch: given[0][0], output: given[0][1] };
      return given.length < rule.branches.length ? undefined : Object.fromEntries(given);
    }
    if (results.size < items.length) return undefined;
    const list = items.map((_, index) => results.get(String(index)) ?? { output: null });
    const failed = list.filter((one) => "error" in one).length;
    if (rule.output === "counts") return { total: list.length, succeeded: list.length - failed, failed };
    if (rule.onItemFailure === "fail") return list.map((one) => ("output" in one ? one.output : null));
    return list.map(
      (one): JsonObject =>
        "output" in one ? { status: "succeeded", output: one.output } : { status: "failed", error: one.error },
    );
  }

  /** Tells whether the branches of the fork can have caused this error, by a failure or by results that are too large. */
  #isForksOwn(fork: Fork, { code, cause }: StepError): boolean {
    const { failing, results, step } = fork;
    if (failing !== undefined && failing.code === code) return isEqual(failing.cause, cause);
    const isKept = step.work.rule.kind === "branches" || step.work.rule.output === "list";
    const sizes = [...results.values()].map((one) => JSON.stringify("output" in one ? one.output : one.error));
    const bytes = sizes.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
    return code === "OutputTooLarge" && isKept && bytes > limits.maxOutputBytes;
  }

  #start(name: string, visit: number, input: JsonValue, at: Timestamp): void {
    require(this.#line.current === undefined, `${name} started beside another step`);
    require(this.#line.next === name, `${name} started instead of ${this.#line.next}`);
    require(visit === (this.#line.visits.get(name) ?? 0) + 1, `visit ${visit} of ${name} counted wrongly`);
    const step = this.#step(name);
    const made = this.#inputOf(step, at);
    const [expected, inputError] = "error" in made ? [null, made.error] : [made.value, undefined];
    require(isEqual(input, expected), `${name} received what it must not`, input, expected);
    this.#line.visits.set(name, visit);
    const key = `${this.#line.path} ${name}:${visit}`;
    require(!this.#keys.has(key), `two visits of ${name} with one key`);
    this.#keys.set(key, { input, isOver: false });
    this.#line.current = { step, visit, input, inputError, begunAt: at };
  }

  /** Goes on after a resume: forgets the failures in the fork, and tries an `input` again that could not be evaluated. */
  #startAgain(at: Timestamp): void {
    if (this.#line.fork !== undefined) {
      this.#line.fork.failing = undefined;
      this.#line.fork.failedKeys.clear();
    }
    if (this.#line.current?.inputError === undefined) return;
    const made = this.#inputOf(this.#line.current.step, at);
    if ("error" in made) return;
    this.#line.current = { ...this.#line.current, input: made.value, inputError: undefined };
    this.#keys.set(`${this.#line.path} ${this.#line.current.step.name}:${this.#line.current.visit}`, {
      input: made.value,
      isOver: false,
    });
  }

  #succeed(entry: Extract<Entry<JsonValue>, { type: "step.succeeded" }>, at: Timestamp, fact: Fact | undefined): void {
    const running = this.#running(entry.step, entry.visit);
    const { step, visit, input } = running;
    const meaning = this.#meant(running);
    require(this.#delayEnd(running) <= at, `${step.name} woke before its time`);
    const events = this.#consume(step, visit, entry.consumed ?? [], meaning);
    const made = this.#make(step, input, at, events, fact);
    require(!("error" in made), `${step.name} succeeded in spite of ${JSON.stringify(made)}`);
    require(isEqual(entry.output, made.output), `${step.name} gave what it must not`, entry.output, made.output);
    if (isChoice(step.next))
      require(made.next === entry.next, `${step.name} led to ${entry.next} instead of ${made.next}`);
    for (const [eventId, values] of events) this.#line.events.set(eventId, values);
    this.#line.outputs.push({ step, output: entry.output });
    if (isFork(step)) this.#endFork(this.#line);
    this.#end(step, visit, { input, output: entry.output });
    this.#line.next = made.next;
    if (made.next === null && this.#line.path !== mainBranch) this.#endLine(this.#line, { output: entry.output });
  }

  #fail(
    entry: Extract<Entry<JsonValue>, { type: "step.failed" }>,
    at: Timestamp,
    fact: Fact | undefined,
    change: Change,
  ): void {
    const running = this.#running(entry.step, entry.visit);
    const { step, visit, input, inputError } = running;
    const isInputMissing = inputError !== undefined;
    const { error } = entry;
    const numbers = change.events.flatMap((event) =>
      event.type === "consumed" && isEqual(visitOf(event), visitOf({ branch: this.#line.path, step: step.name, visit }))
        ? [event.eventNumber]
        : [],
    );
    const { fork } = this.#line;
    const isForksOwn = fork !== undefined && this.#isForksOwn(fork, error);
    const isOwn = ["InputMismatch", "ExpressionFailed", "OutputMismatch", "OutputTooLarge"].includes(error.code);
    const isMisfit = !isInputMissing && checkValue(step.inputSchema, input).length > 0;
    if (isMisfit)
      require(error.code === "InputMismatch" || error.code === "Timeout", `${error.code} before InputMismatch`);
    else if (isFork(step) && !isInputMissing && error.code !== "Timeout") {
      if (!isForksOwn) {
        const made = fork === undefined ? this.#itemsOf(step, input, at) : this.#make(step, input, at, new Map(), fact);
        require("error" in made && made.error === error.code, `${step.name} failed with`, error, made);
      }
    } else if (!isInputMissing) {
      const meaning = this.#meaning(running);
      if ("error" in meaning) require(error.code === meaning.error, `${error.code} before the config was read`);
      else if (isOwn) {
        const events = this.#consume(step, visit, numbers, meaning);
        const made = this.#make(step, input, at, events, fact);
        const isSame = "error" in made && made.error === error.code;
        require(isSame, `${step.name} failed with ${error.code}, not`, made, error);
      }
    }
    const isExpected = !isInputMissing || error.code === inputError || error.code === "Timeout";
    require(isExpected, `${error.code} came first`);
    const isWholeJob = error.type === "JobTimeout";
    const handler = isWholeJob ? undefined : handlerOf(step.onFailure, error);
    require(entry.next === handler, `${step.name} failed to ${entry.next} instead of ${handler}`);
    if (handler === undefined) {
      if (!isWholeJob && this.#line.path !== mainBranch) this.#endLine(this.#line, { step: step.name, error });
      return;
    }
    if (isFork(step)) this.#endFork(this.#line);
    const { cause, ...own } = error;
    const caught: JsonObject = { ...own, step: step.name, ...(cause !== undefined && { cause: { ...cause } }) };
    this.#line.caught = caught;
    this.#end(step, visit, { input, error: caught });
    this.#line.next = handler;
  }

  #end(step: PlanStep, visit: number, ended: Ended): void {
    this.#line.ended.set(step.name, ended);
    const key = this.#keys.get(`${this.#line.path} ${step.name}:${visit}`);
    if (key !== undefined) key.isOver = true;
    this.#line.current = undefined;
  }

  #running(name: string, visit: number): Running {
    const current = this.#line.current;
    if (current?.step.name !== name || current.visit !== visit) throw new Error(`${name} ended and does not run.`);
    return current;
  }

  /** The values of the config of a step whose work has begun. All its expressions must have values. */
  #meant(running: Running): Meaning {
    const meaning = this.#meaning(running);
    if ("error" in meaning) throw new Error(`${running.step.name} began in spite of ${meaning.error} in its config.`);
    return meaning;
  }

  /** The values are the same at every attempt of a visit: `now` is the time when the visit began. */
  #meaning({ step: { name, work }, input, begunAt }: Running): Meaning | { readonly error: string } {
    const scope = this.#scope(begunAt, { step: name, input });
    switch (work.kind) {
      case "pass":
      case "fork":
        return {};
      case "wait": {
        const rule = work.openRule === undefined ? { value: work.rule } : resolved(work.openRule, scope);
        return "error" in rule ? rule : { rule: rule.value };
      }
      case "delay": {
        const delay = "template" in work.delay ? resolved(work.delay, scope) : { value: work.delay };
        return "error" in delay ? delay : { delay: delay.value };
      }
      case "call": {
        if (work.by === "worker") {
          const terms = "template" in work.terms ? resolved(work.terms, scope) : { value: work.terms };
          return "error" in terms ? terms : { config: {}, terms: terms.value };
        }
        if (work.by === "job") {
          const child = "template" in work.terms ? resolved(work.terms, scope) : { value: work.terms };
          if ("error" in child) return child;
          return isJsonObject(input) ? { config: {}, child: child.value } : { error: "ChildNotStarted" };
        }
        const { config, openConfig } = work;
        const fields = openConfig === undefined ? { value: {} } : madeBy(openConfig.template, scope);
        return "error" in fields ? fields : { config: { ...config, ...(fields.value as JsonObject) } };
      }
    }
  }

  /** When the sleep ends. It counts from when the job entered the step, even after a resume. */
  #delayEnd(running: Running): Timestamp {
    const { delay } = this.#meant(running);
    return delay === undefined ? running.begunAt : delayEnd(delay, running.begunAt);
  }

  #inputOf(step: PlanStep, at: Timestamp): { readonly value: JsonValue } | { readonly error: string } {
    const rule = step.inputRule;
    if (rule.kind === "template") return madeBy(rule.template, this.#scope(at, {}));
    if (this.#line.visits.size === 0 && this.#line.path === mainBranch) return { value: this.#jobInput };
    if (rule.kind === "whole") {
      const latest = this.#line.outputs.at(-1);
      // An output may be null.
      return { value: latest === undefined ? this.#line.start : latest.output };
    }
    const taken = rule.properties.flatMap((name) => {
      const value = this.#nearest(name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return { value: Object.fromEntries(taken) };
  }

  /** Finds a property in the latest output that has it. The search ends at a wait if only its events could bring the property. */
  #nearest(name: string): JsonValue | undefined {
    for (const { outputs, item } of this.#chain) {
      for (const { step, output } of outputs.toReversed()) {
        const value = isJsonObject(output) ? getOwn(output, name) : undefined;
        if (value !== undefined) return value;
        if (isWait(step) && step.outputTemplate === undefined && step.work.payloadRule?.fromEvents.has(name))
          return undefined;
      }
      const value = item !== undefined && isJsonObject(item.item) ? getOwn(item.item, name) : undefined;
      if (value !== undefined) return value;
    }
    return getOwn(this.#jobInput, name);
  }

  #make(
    step: PlanStep,
    input: JsonValue,
    at: Timestamp,
    events: ReadonlyMap<string, EventValues>,
    fact: Fact | undefined,
  ): { readonly output: JsonValue; readonly next: string | null } | { readonly error: string } {
    const worked = this.#work(step, input, events, fact);
    if ("error" in worked) return worked;
    const own = { step: step.name, input, result: worked.result, events };
    const made =
      step.outputTemplate === undefined ? { value: worked.result } : madeBy(step.outputTemplate, this.#scope(at, own));
    if ("error" in made) return made;
    const output = made.value;
    const schema = step.outputTemplate === undefined ? worked.schema : step.outputSchema;
    if (checkValue(schema, output).length > 0) return { error: "OutputMismatch" };
    if (!isChoice(step.next)) return { output, next: step.next };
    const way = choose(step.next, this.#scope(at, { ...own, output }), new Budget(), step.name);
    return "error" in way ? { error: way.error.code } : { output, next: way.target };
  }

  #work(
    step: PlanStep,
    input: JsonValue,
    events: ReadonlyMap<string, EventValues>,
    fact: Fact | undefined,
  ): { readonly result: JsonValue; readonly schema: Schema } | { readonly error: string } {
    if (step.work.kind === "call") {
      if (fact?.type !== "step.succeeded") throw new Error(`${step.name} ended without an outcome.`);
      return { result: fact.output, schema: step.outputSchema };
    }
    if (isFork(step)) {
      const result = this.#line.fork && this.#forkResult(this.#line.fork);
      if (result === undefined) throw new Error(`${step.name} ended before its branches.`);
      return { result, schema: step.outputSchema };
    }
    if (!isWait(step)) return { result: input, schema: step.outputSchema };
    const consumed = new Map([...events].map(([id, { payload, sentAt }]) => [id, { payload, sentAt }]));
    const made = waitOutput(step, input, consumed, limits.maxOutputBytes);
    return "error" in made ? { error: made.error.code } : { result: made.output, schema: made.outputSchema };
  }

  /** The events that a wait consumes, in the order of `eventIds`. Each event was sent for this visit or for any visit, and is consumed once. */
  #consume(
    step: PlanStep,
    visit: number,
    numbers: readonly number[],
    { rule }: Meaning,
  ): ReadonlyMap<string, EventValues> {
    if (rule === undefined) return new Map();
    const { eventIds, requiredCount } = rule;
    const found = numbers.map((eventNumber) => {
      const event = this.#kept.get(eventNumber);
      if (event === undefined) throw new Error(`${step.name} consumed event ${eventNumber}, which nobody sent.`);
      require(!this.#consumed.has(eventNumber), `event ${eventNumber} consumed twice`);
      this.#consumed.add(eventNumber);
      const own = { branch: this.#line.path, step: step.name, visit };
      require(isFor(event, own), `${step.name} consumed an event for another visit`);
      return [event.eventId, { payload: event.payload, sentAt: toTime(event.at) }] as const;
    });
    const ids = found.map(([eventId]) => eventId);
    require(isEqual(
      ids,
      eventIds.filter((id) => ids.includes(id)),
    ), `${step.name} consumed ${ids}`);
    require(ids.length >= requiredCount, `${step.name} went on with too few events`);
    return new Map(found);
  }

  #scope(
    at: Timestamp,
    own: {
      step?: string;
      input?: JsonValue;
      result?: JsonValue;
      output?: JsonValue;
      events?: ReadonlyMap<string, EventValues>;
    },
  ): Scope {
    const { jobId, workflowName, versionNumber } = identity;
    const chain = this.#chain;
    const loops = chain.flatMap(({ item }) => item ?? []);
    return {
      input: this.#jobInput,
      step: (name) => {
        const line = chain.find(({ visits }) => visits.has(name));
        if (line === undefined) return undefined;
        return { ...line.ended.get(name), ...(name === own.step && { input: own.input }) };
      },
      event: (eventId) => own.events?.get(eventId) ?? chain.flatMap(({ events }) => events.get(eventId) ?? []).at(0),
      result: own.result,
      output: own.output,
      error: chain.flatMap(({ caught }) => caught ?? []).at(0),
      item: loops[0]?.item,
      index: loops[0]?.index,
      fork: (name) => loops.find((loop) => loop.name === name),
      job: { jobId, submittedAt: toTime(startedAt), workflowName, versionNumber },
      now: at,
    };
  }

  #step(name: string): PlanStep {
    const step = this.#plan.steps.get(name);
    if (step === undefined) throw new Error(`There is no step ${name}.`);
    return step;
  }
}

function timeoutAt({ work }: PlanStep, at: Timestamp): Timestamp | null {
  return work.kind === "call" && work.timeoutMs !== undefined ? at + work.timeoutMs : null;
}

function visitOf({ branch = mainBranch, step, visit }: WaitVisit): WaitVisit {
  return { branch, step, visit };
}

function require(holds: boolean, what: string, got?: unknown, expected?: unknown): asserts holds {
  if (holds) return;
  const values =
    got === undefined && expected === undefined ? "" : `: ${JSON.stringify(got)} / ${JSON.stringify(expected)}`;
  throw new Error(`${what}${values}`);
}

function isFor({ address }: Kept, visit: WaitVisit): boolean {
  return address === undefined || isEqual(visitOf(address), visitOf(visit));
}

function resolved<Value extends object>(
  { template, resolve }: Resolvable<Value>,
  scope: Scope,
): { readonly value: Value } | { readonly error: string } {
  const made = madeBy(template, scope);
  if ("error" in made) return made;
  const value = resolve(made.value as JsonObject);
  return "problems" in value ? { error: "ExpressionFailed" } : { value };
}

function madeBy(template: Template, scope: Scope): { readonly value: JsonValue } | { readonly error: string } {
  const made = renderTemplate(template, scope, new Budget());
  if ("failure" in made) return { error: "ExpressionFailed" };
  return Buffer.byteLength(JSON.stringify(made.value)) > limits.maxOutputBytes ? { error: "OutputTooLarge" } : made;
}
