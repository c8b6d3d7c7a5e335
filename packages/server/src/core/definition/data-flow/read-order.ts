import type { Template } from "../../expression/expression.ts";
import type { StepDefinition, Steps } from "../definition-parts.ts";
import type { StepGraph } from "../graph/step-graph.ts";

/**
 * Returns the order in which the templates of a definition get their types. Each step comes after the steps from which its templates read. In a loop
 * there is no such order: a step may read from a later step. So there are up to `maxRounds` rounds. Each round after the first visits such a reading
 * step again, and also the steps that read from it.
 */
export function* readOrder(steps: Steps, graph: StepGraph, maxRounds: number): Generator<number> {
  const positions = new Map(graph.order.map((step, position) => [step, position]));
  const templated = graph.order.filter((step) => ownTemplates(steps[step]).length > 0);
  const readBy = sourcesOf(steps, new Set(templated));
  let before: ReadonlySet<number> = new Set();
  for (let round = 0; round < maxRounds; round++) {
    const now = new Set<number>();
    for (const step of templated) {
      const isBehind = (source: number) => (positions.get(source) ?? 0) >= (positions.get(step) ?? 0);
      const isNew = (source: number) => (isBehind(source) ? before.has(source) : now.has(source));
      if (round > 0 && !readBy.get(step)?.some(isNew)) continue;
      now.add(step);
      yield step;
    }
    before = now;
  }
}

/** For each step in `templated`: the steps in `templated` whose values its templates read. */
function sourcesOf(steps: Steps, templated: ReadonlySet<number>): ReadonlyMap<number, readonly number[]> {
  const indexes = new Map(steps.map(({ name }, index) => [name, index]));
  return new Map(
    [...templated].map((index) => {
      const references = ownTemplates(steps[index]).flatMap((template) => template.references);
      const sources = new Set(
        references.flatMap(({ step: name }) => (name === undefined ? [] : (indexes.get(name) ?? []))),
      );
      return [index, [...sources].filter((source) => templated.has(source))];
    }),
  );
}

/** Returns those templates of a step whose types other steps need: the templates of its input and its output, and the list of a forEach. */
function ownTemplates(step: StepDefinition | undefined): readonly Template[] {
  if (step === undefined) return [];
  const { input, output, work } = step;
  const list = work.kind === "fork" && "template" in work.items ? work.items.template : undefined;
  return [input, output, list].flatMap((template) => template ?? []);
}
