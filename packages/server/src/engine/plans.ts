import { setImmediate as nextTurn } from "node:timers/promises";
import type { Config } from "../config.ts";
import { type DefinitionLimits, parseDefinition } from "../core/definition/definition.ts";
import type { Definition } from "../core/definition/definition-parts.ts";
import { nameCountOf } from "../core/definition/definition-size.ts";
import type { ExecutorCatalog } from "../core/definition/executor-kind.ts";
import { compilePlan, type Plan } from "../core/plan/plan.ts";
import type { Queryable } from "../store/home/database.ts";
import { loadDefinitions, type VersionKey } from "../store/workflows/versions.ts";
import { definitionLimits } from "./definition-limits.ts";
import { PlanCache } from "./plan-cache.ts";

/** The compiled plans of versions, loaded when first needed. A version never changes, so its plan is compiled once while it is in use. */
export class Plans {
  readonly #executors: ExecutorCatalog;
  readonly #limits: DefinitionLimits;
  readonly #cached: PlanCache;

  constructor(executors: ExecutorCatalog, config: Config) {
    this.#executors = executors;
    this.#limits = definitionLimits(config);
    this.#cached = new PlanCache(config.planCacheMb * 1024 * 1024);
  }

  /** The plans of these versions, by version id. A version that the store does not have is missing from the answer. */
  async load(db: Queryable, versions: readonly VersionKey[]): Promise<ReadonlyMap<string, Plan>> {
    const plans = new Map<string, Plan>();
    const missing: VersionKey[] = [];
    for (const version of versions) {
      const plan = this.#cached.find(version.versionId);
      if (plan === undefined) missing.push(version);
      else plans.set(version.versionId, plan);
    }
    const organizations = new Map(missing.map(({ versionId, organizationId }) => [versionId, organizationId]));
    for (const { versionId, definition } of await loadDefinitions(db, missing)) {
      const { plan, bytes } = this.#compile(versionId, definition);
      this.#cached.keep({ versionId, organizationId: organizations.get(versionId) ?? "", plan, bytes });
      plans.set(versionId, plan);
      // A batch may need hundreds of plans, as after a start: what else is due comes in between.
      if (definition.length > longDefinition) await nextTurn();
    }
    return plans;
  }

  #compile(versionId: string, text: string): { readonly plan: Plan; readonly bytes: number } {
    const parsed = parseDefinition(text, this.#executors, this.#limits, true);
    if ("problems" in parsed) {
      // It was valid when it was registered, so this node is older than the one that took it.
      throw new Error(`Version ${versionId} cannot be read by this node: ${parsed.problems[0]?.detail}`);
    }
    return { plan: compilePlan(parsed.definition), bytes: bytesOf(text, parsed.definition) };
  }
}

/**
 * An estimate of what a plan takes of the heap, measured on the definitions that make most of each: up to 15 bytes for one of their text, and 75
 * for a name. Compiled patterns are kept apart (`core/schema/matcher.ts`).
 */
function bytesOf(text: string, { steps }: Definition): number {
  return bytesPerPlan + text.length * 16 + nameCountOf(steps, maxCountedNames) * 80;
}

/** In characters: less than that is compiled in a millisecond. */
const longDefinition = 10_000;
const bytesPerPlan = 4 * 1024;
const maxCountedNames = 10_000_000;
