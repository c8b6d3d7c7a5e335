import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "../../config.ts";
import { type DefinitionLimits, parseDefinition } from "../../core/definition/definition.ts";
import type { Definition } from "../../core/definition/definition-parts.ts";
import { nameCountOf } from "../../core/definition/definition-size.ts";
import type { ExecutorCatalog } from "../../core/definition/executor-kind.ts";
import { compilePlan, type Plan } from "../../core/plan/plan.ts";
import type { Queryable } from "../../store/home/database.ts";
import { TooMuchAtOnceError } from "../../store/jobs/jobs.ts";
import { type LoadedDefinition, loadDefinitions, type VersionKey } from "../../store/workflows/versions.ts";
import { definitionLimits } from "./definition-limits.ts";
import { type Parked, Parking, UnreadableVersionError } from "./parking.ts";
import { PlanCache } from "./plan-cache.ts";

/** The compiled plans of versions, loaded when first needed. A version never changes, so its plan is compiled once while it is in use. */
export class Plans {
  /** Has the versions that could not be compiled. */
  readonly parking: Parking;
  readonly #executors: ExecutorCatalog;
  readonly #limits: DefinitionLimits;
  readonly #cached: PlanCache;
  readonly #maxBytes: number;

  constructor(executors: ExecutorCatalog, config: Config, parking = new Parking()) {
    this.parking = parking;
    this.#executors = executors;
    this.#limits = definitionLimits(config);
    this.#maxBytes = config.planCacheMb * 1024 * 1024;
    this.#cached = new PlanCache(this.#maxBytes);
  }

  /**
   * Answers for each version either its plan or why there is none: one that fails keeps no other from its plan. Throws `TooMuchAtOnceError` for
   * several whose plans are larger together than the cache may be.
   */
  async load(db: Queryable, versions: readonly VersionKey[]): Promise<LoadedPlans> {
    const plans = new Map<string, Plan>();
    const parked = new Map<string, Parked>();
    const missing = new Map<string, VersionKey>();
    for (const version of versions) {
      const plan = this.#cached.find(version.versionId);
      const failure = this.parking.findVersion(version.versionId);
      if (plan !== undefined) plans.set(version.versionId, plan);
      else if (failure !== undefined) parked.set(version.versionId, failure);
      else missing.set(version.versionId, version);
    }
    let bytes = 0;
    for await (const [version, loaded] of definitionsOf(db, [...missing.values()])) {
      const { versionId } = version;
      try {
        if (loaded === undefined) throw new UnreadableVersionError("the store does not have it");
        const compiled = this.#compile(loaded);
        this.#cached.keep({ ...version, ...compiled });
        this.parking.releaseVersion(versionId);
        plans.set(versionId, compiled.plan);
        bytes += compiled.bytes;
      } catch (error) {
        this.parking.parkVersion(version, error);
        const failure = this.parking.findVersion(versionId);
        if (failure !== undefined) parked.set(versionId, failure);
      }
      // The batch that asked holds all of them until it is done, whatever the cache drops meanwhile.
      if (plans.size > 1 && bytes > this.#maxBytes) throw new TooMuchAtOnceError(plans.size, bytes, "plans");
      // A batch may need hundreds of plans, as after a start: what else is due comes in between.
      if ((loaded?.definition.length ?? 0) > longDefinition) await nextTurn();
    }
    return { plans, parked };
  }

  /** The ids of those versions that this node can compile, however many they are. */
  async findReadable(db: Queryable, versions: readonly VersionKey[]): Promise<ReadonlySet<string>> {
    const readable = new Set<string>();
    for (const version of new Map(versions.map((version) => [version.versionId, version])).values()) {
      const { plans } = await this.load(db, [version]);
      if (plans.has(version.versionId)) readable.add(version.versionId);
    }
    return readable;
  }

  /** Answers about how many bytes of memory the organization's plans take on this node. */
  bytesOf(organizationId: string): number {
    return this.#cached.bytesOf(organizationId);
  }

  #compile({ definition: text, language }: LoadedDefinition): { readonly plan: Plan; readonly bytes: number } {
    const parsed = parseDefinition(text, this.#executors, this.#limits, language);
    if ("problems" in parsed) {
      // It was valid when it was registered, so this node is older than the one that took it.
      const [problem] = parsed.problems;
      throw new UnreadableVersionError(`${problem?.pointer} ${problem?.detail}`.trim());
    }
    return { plan: compilePlan(parsed.definition), bytes: bytesOf(text, parsed.definition) };
  }
}

/** The plans and the failures of some versions, by version id. */
export interface LoadedPlans {
  readonly plans: ReadonlyMap<string, Plan>;
  /** The versions that cannot be compiled here, or that the store does not have. */
  readonly parked: ReadonlyMap<string, Parked>;
}

/** The versions with their texts, undefined where the store has none. Few are read at a time: a text may have half a megabyte. */
async function* definitionsOf(
  db: Queryable,
  versions: readonly VersionKey[],
): AsyncGenerator<[VersionKey, LoadedDefinition | undefined]> {
  for (let first = 0; first < versions.length; first += textsAtOnce) {
    const portion = versions.slice(first, first + textsAtOnce);
    const loaded = new Map((await loadDefinitions(db, portion)).map((one) => [one.versionId, one]));
    for (const version of portion) yield [version, loaded.get(version.versionId)];
  }
}

const textsAtOnce = 50;

/**
 * An estimate of what a plan takes of the heap, measured on the definitions that make most of each: up to 15 bytes for one of their text (19 where it is all expressions), and 75
 * for a name. Compiled patterns are kept apart (`core/schema/matcher.ts`).
 */
function bytesOf(text: string, { steps }: Definition): number {
  return bytesPerPlan + text.length * 20 + nameCountOf(steps, maxCountedNames) * 80;
}

/** In characters: less than that is compiled in a millisecond. */
const longDefinition = 10_000;
const bytesPerPlan = 4 * 1024;
const maxCountedNames = 10_000_000;
