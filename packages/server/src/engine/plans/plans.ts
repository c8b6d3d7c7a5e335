import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "../../config.ts";
import { type DefinitionLimits, parseDefinition } from "../../core/definition/definition.ts";
import type { Definition } from "../../core/definition/definition-parts.ts";
import { nameCountOf } from "../../core/definition/definition-size.ts";
import type { ExecutorCatalog } from "../../core/definition/executor-kind.ts";
import { compilePlan, type Plan } from "../../core/plan/plan.ts";
import type { Queryable } from "../../store/home/database.ts";
import { TooMuchAtOnceError } from "../../store/jobs/large-contents.ts";
import { type LoadedDefinition, loadDefinitions, type VersionKey } from "../../store/workflows/versions.ts";
import { definitionLimits } from "./definition-limits.ts";
import { type Parked, Parking, UnreadableVersionError } from "./parking.ts";
import { PlanCache } from "./plan-cache.ts";

/** The compiled plans of versions, loaded when they are needed. A version never changes, so its plan stays usable until the cache drops it. */
export class Plans {
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
   * Loads, for each version, its plan or the reason why there is none. If one version fails, the others still get their plans. Throws
   * `TooMuchAtOnceError` when there are several plans, and those that it compiled are together larger than the whole cache may be. `onCompiled`
   * receives, for each compiled version, its organization and how many milliseconds the compilation took.
   */
  async load(
    db: Queryable,
    versions: readonly VersionKey[],
    onCompiled?: (organizationId: string, ms: number) => void,
  ): Promise<LoadedPlans> {
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
        const begunAt = performance.now();
        const compiled = this.#compile(loaded);
        onCompiled?.(version.organizationId, performance.now() - begunAt);
        this.#cached.keep({ ...version, ...compiled });
        this.parking.releaseVersion(versionId);
        plans.set(versionId, compiled.plan);
        bytes += compiled.bytes;
      } catch (error) {
        this.parking.parkVersion(version, error);
        const failure = this.parking.findVersion(versionId);
        if (failure !== undefined) parked.set(versionId, failure);
      }
      // The batch holds all of these plans until it ends, even when the cache drops them meanwhile. So their total is bounded.
      if (plans.size > 1 && bytes > this.#maxBytes) throw new TooMuchAtOnceError(plans.size, this.#maxBytes, "plans");
      // A batch may need hundreds of plans, for example after a start. The pause lets other work run in between.
      if ((loaded?.definition.length ?? 0) > longDefinition) await nextTurn();
    }
    return { plans, parked };
  }

  /** Returns the ids of the versions that this node can compile. It loads one version at a time, so `versions` may be of any length. */
  async findReadable(db: Queryable, versions: readonly VersionKey[]): Promise<ReadonlySet<string>> {
    const readable = new Set<string>();
    for (const version of new Map(versions.map((version) => [version.versionId, version])).values()) {
      const { plans } = await this.load(db, [version]);
      if (plans.has(version.versionId)) readable.add(version.versionId);
    }
    return readable;
  }

  /** Estimates how many bytes of memory the organization's plans take on this node. */
  bytesOf(organizationId: string): number {
    return this.#cached.bytesOf(organizationId);
  }

  #compile({ definition: text, language }: LoadedDefinition): { readonly plan: Plan; readonly bytes: number } {
    const parsed = parseDefinition(text, this.#executors, this.#limits, language);
    if ("problems" in parsed) {
      // The definition was valid when it was registered, so this node runs an older release than the node that accepted it.
      const [problem] = parsed.problems;
      throw new UnreadableVersionError(`${problem?.pointer} ${problem?.detail}`.trim());
    }
    return { plan: compilePlan(parsed.definition), bytes: bytesOf(text, parsed.definition) };
  }
}

/** The plans and the failures of some versions, by version id. */
export interface LoadedPlans {
  readonly plans: ReadonlyMap<string, Plan>;
  /** The versions that this node cannot compile, or that are not in the store. */
  readonly parked: ReadonlyMap<string, Parked>;
}

/**
 * Yields the versions with their texts; the text is undefined when the store has none. Few are read at a time, because a text may have half a
 * megabyte.
 */
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
 * Estimates how many bytes of the heap a plan takes. The factors are a little larger than those measured with extreme definitions: 15 bytes per
 * character of text (19 when the whole text is expressions), and 75 bytes per name. Compiled patterns are not counted here, because they
 * are kept separately (`core/schema/patterns/matcher.ts`).
 */
function bytesOf(text: string, { steps }: Definition): number {
  return bytesPerPlan + text.length * 20 + nameCountOf(steps, maxCountedNames) * 80;
}

/** The length in characters above which a definition counts as long. A shorter one is compiled in less than a millisecond. */
const longDefinition = 10_000;
const bytesPerPlan = 4 * 1024;
const maxCountedNames = 10_000_000;
