import { quoted, tokensOf } from "../../problem.ts";
import { describeMisfit, type Misfit, type Outcome } from "../../schema/compare/outcome.ts";
import { joinWords } from "../../schema/type-set.ts";
import type { StepDefinition } from "../definition-parts.ts";
import { payloadRuleOf } from "../payload-rule.ts";
import type { Arrival } from "./arrival.ts";
import { hasSource, type Sources } from "./sources.ts";

/** The result for one arrival: how well the received value fits the input definition, or how well the output fits the output definition. */
export interface Finding {
  readonly arrival: Arrival;
  readonly outcome: Outcome;
}

/** One problem that a step may have, or certainly has, and the arrivals with which it occurs. */
export interface Trouble {
  readonly misfit: Misfit;
  readonly isCertain: boolean;
  readonly arrivals: readonly Arrival[];
}

/**
 * Combines the problems of all arrivals at a step. A problem that always occurs with one arrival is certain if this arrival is not along a failure
 * edge. It is also certain if no arrival brings a value that fits. Any other problem is only a warning: for example, a handler that works after only
 * some failures is better than a definition that cannot be registered.
 */
export function troublesOf(findings: readonly Finding[]): Trouble[] {
  const isHopeless = findings.every(({ outcome }) => outcome.noneFits);
  const troubles = new Map<string, Trouble & { readonly arrivals: Arrival[] }>();
  for (const { arrival, outcome } of findings) {
    if (outcome.allFit) continue;
    const isCertainHere = outcome.noneFits && (isHopeless || arrival.edge?.kind !== "failure");
    for (const misfit of outcome.misfits) {
      const isCertain = isCertainHere && misfit.isCertain;
      const key = `${isCertain} ${misfit.pointer} ${misfit.finding}`;
      const known = troubles.get(key);
      if (known === undefined) troubles.set(key, { misfit, isCertain, arrivals: [arrival] });
      else known.arrivals.push(arrival);
    }
  }
  return [...troubles.values()];
}

/** The facts that the sentence about a problem mentions. */
export interface Scene {
  readonly step: StepDefinition;
  readonly steps: readonly StepDefinition[];
  /** The number of all arrivals at the step, with and without the problem. */
  readonly arrivalCount: number;
  /** A hint for the end of a sentence: a property with a similar name that an output or the job's input has. */
  readonly hint: (property: string) => string;
}

export function describeInputTrouble({ misfit, arrivals }: Trouble, scene: Scene): string {
  const name = quoted(scene.step.name);
  const where = describeArrivals(arrivals, scene);
  const [property] = tokensOf(misfit.pointer);
  const taken = arrivals.flatMap(({ properties }) => (property === undefined ? [] : (properties.get(property) ?? [])));
  const whole = arrivals.flatMap((arrival) => arrival.whole ?? []);
  if (whole.length > 0) {
    const places = placesOf(whole, "the output of ", scene);
    return `${name} receives ${places}${where}; ${subjectOf(misfit)} ${describeMisfit(misfit)}`;
  }
  if (property === undefined) {
    return `${name} receives its declared properties${where}; the object of these properties ${describeMisfit(misfit)}`;
  }
  if (!taken.some(hasSource)) return describeMissing(property, scene, where);
  return `${name} receives ${quoted(tokensOf(misfit.pointer).join("/"))} from ${placesOf(taken, "", scene)}${where}; it ${describeMisfit(misfit)}`;
}

export function describeOutputTrouble({ misfit, arrivals }: Trouble, scene: Scene): string {
  const where = describeArrivals(arrivals, scene);
  const [property, ...deeper] = tokensOf(misfit.pointer);
  const rule = payloadRuleOf(scene.step);
  if (property !== undefined && deeper.length === 0 && rule?.fromEvents.has(property)) {
    return `only the payload of an event can bring ${quoted(property)}, which the output of ${quoted(scene.step.name)} requires. If no event has a payload, the step ends without this property. If there are payloads but none has it, the step fails. Require the property in the definition that \`payloadDefinitions\` has for an event that the wait always needs, or take it out of \`required\` in the output definition`;
  }
  if (scene.step.work.kind === "fork") {
    const given = scene.step.work.rule.kind === "items" ? "its items" : "its branches";
    return `the output of ${quoted(scene.step.name)} consists of what ${given} give; ${subjectOf(misfit)} ${describeMisfit(misfit)}`;
  }
  return `${quoted(scene.step.name)} has its input as its output${where}; ${subjectOf(misfit)} ${describeMisfit(misfit)}`;
}

function describeMissing(property: string, { step, hint }: Scene, where: string): string {
  const reason = "no earlier step gives it and the job's input cannot have it";
  return `${quoted(property)} is required by ${quoted(step.name)}${where}, but ${reason}${hint(property)}`;
}

function subjectOf(misfit: Misfit): string {
  const tokens = tokensOf(misfit.pointer);
  return tokens.length === 0 ? "it" : `its ${quoted(tokens.join("/"))}`;
}

/** Lists sources, as in "`reserve`, `pay` or the job's input". `words` comes before the name of each step. */
function placesOf(sources: readonly Sources[], words: string, { steps }: Scene): string {
  const provenances = sources.map(({ provenance }) => provenance);
  const indexes = new Set(provenances.flatMap((provenance) => provenance.steps));
  const places = [...indexes].map((index) => `${words}${quoted(steps[index]?.name ?? "")}`);
  if (provenances.some(({ mayBeJobInput }) => mayBeJobInput)) places.push("the job's input");
  return joinWords(shortened(places), "or");
}

/** Says with which arrivals a problem occurs. Empty when it occurs with all of them. */
function describeArrivals(arrivals: readonly Arrival[], { steps, arrivalCount }: Scene): string {
  if (arrivals.length === arrivalCount) return "";
  const clauses = arrivals.map(({ edge }) => {
    if (edge === undefined) return "at the start";
    const before = quoted(steps[edge.from]?.name ?? "");
    return edge.kind === "failure" ? `when ${before} has failed` : `after ${before}`;
  });
  return ` ${joinWords(shortened(clauses), "and")}`;
}

function shortened(words: readonly string[]): string[] {
  return words.length <= 4 ? [...words] : [...words.slice(0, 3), `${words.length - 3} more`];
}
