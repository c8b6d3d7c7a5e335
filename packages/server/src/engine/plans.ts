import type { Config } from "../config.ts";
import { type DefinitionLimits, parseDefinition } from "../core/definition/definition.ts";
import type { ExecutorCatalog } from "../core/definition/executor-kind.ts";
import { compilePlan, type Plan } from "../core/plan/plan.ts";
import type { Queryable } from "../store/home/database.ts";
import { loadDefinitions, type VersionKey } from "../store/workflows/versions.ts";

/** A version never changes, so its plan is compiled once; beyond this many the one that was used longest ago is dropped. */
const maxCachedPlans = 1_000;

/** The compiled plans of versions, loaded when first needed. */
export class Plans {
  readonly #executors: ExecutorCatalog;
  readonly #limits: DefinitionLimits;
  readonly #cached = new Map<string, Plan>();

  constructor(executors: ExecutorCatalog, limits: DefinitionLimits) {
    this.#executors = executors;
    this.#limits = limits;
  }

  /** The plans of these versions, by version id. A version that the store does not have is missing from the answer. */
  async load(db: Queryable, versions: readonly VersionKey[]): Promise<ReadonlyMap<string, Plan>> {
    const plans = new Map<string, Plan>();
    const missing: VersionKey[] = [];
    for (const version of versions) {
      const plan = this.#recall(version.versionId);
      if (plan === undefined) missing.push(version);
      else plans.set(version.versionId, plan);
    }
    for (const { versionId, definition } of await loadDefinitions(db, missing)) {
      const plan = this.#compile(versionId, definition);
      this.#remember(versionId, plan);
      plans.set(versionId, plan);
    }
    return plans;
  }

  #recall(versionId: string): Plan | undefined {
    const plan = this.#cached.get(versionId);
    if (plan !== undefined) this.#remember(versionId, plan);
    return plan;
  }

  #remember(versionId: string, plan: Plan): void {
    // A Map keeps the order of insertion: the first key is the one used longest ago.
    this.#cached.delete(versionId);
    this.#cached.set(versionId, plan);
    if (this.#cached.size <= maxCachedPlans) return;
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined) this.#cached.delete(oldest);
  }

  #compile(versionId: string, text: string): Plan {
    const parsed = parseDefinition(text, this.#executors, this.#limits, true);
    if ("problems" in parsed) {
      // It was valid when it was registered: this node is older than the one that took it, or a limit was lowered since.
      throw new Error(`Version ${versionId} is not valid on this node: ${parsed.problems[0]?.detail}`);
    }
    return compilePlan(parsed.definition);
  }
}

export function definitionLimits(config: Config): DefinitionLimits {
  return {
    maxDefinitionBytes: config.maxDefinitionBytes,
    maxSteps: config.maxSteps,
    maxEventIdsPerStep: config.maxEventIdsPerStep,
    maxNameLength: config.maxNameLength,
    maxDepth: config.maxJsonDepth,
  };
}
