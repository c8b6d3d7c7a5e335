import type { RawObject } from "../../json/raw-object.ts";
import { pointerTo, quoted } from "../../problem.ts";
import { allOfSchemas, nothing, type ObjectRules, type PatternRule, type Schema } from "../node.ts";
import type { PatternBook } from "../patterns/pattern-book.ts";
import { type ReadSchema, readNamedSchemas, readSchemaAt } from "./keywords.ts";

/** Reads the keywords about the properties of an object, without those that few schemas have (`rare-keywords.ts`). */
export function readObjectRules(
  raw: RawObject,
  readSchema: ReadSchema,
  patternBook: PatternBook,
): ObjectRules | undefined {
  const properties = readNamedSchemas(raw, "properties", readSchema);
  const patterns = readPatternRules(raw, readSchema, patternBook);
  const required = raw.names("required") ?? [];
  const additional = readSchemaAt(raw, "additionalProperties", readSchema);
  if (patterns !== undefined) applyPatterns(raw, patterns, properties, patternBook);
  if (additional === nothing && patterns === undefined) refuseImpossibleNames(raw, required, properties);
  const isFree = properties.size === 0 && required.length === 0 && patterns === undefined && additional === undefined;
  return isFree ? undefined : { properties, required, patterns, additional };
}

function readPatternRules(
  raw: RawObject,
  readSchema: ReadSchema,
  patternBook: PatternBook,
): readonly PatternRule[] | undefined {
  if (raw.fields.patternProperties === undefined) return undefined;
  const rules: PatternRule[] = [];
  const pointer = raw.pointerTo("patternProperties");
  for (const [source, schema] of readNamedSchemas(raw, "patternProperties", readSchema)) {
    const pattern = patternBook.read(source);
    if ("problem" in pattern) raw.refuseAt(pointerTo(pointer, source), `the pattern ${pattern.problem}`);
    else rules.push({ pattern, schema });
  }
  return rules.length === 0 ? undefined : rules;
}

/**
 * A declared property must also fit the schemas of all patterns that its name matches. These schemas are combined here, once. So the schema of a
 * declared property is complete, and a check of a value need not compare declared names with the patterns again.
 */
function applyPatterns(
  raw: RawObject,
  patterns: readonly PatternRule[],
  properties: Map<string, Schema>,
  patternBook: PatternBook,
): void {
  for (const [name, property] of properties) {
    const matching = patterns.filter(({ pattern }) => patternBook.matches(pattern, name));
    if (patternBook.isSpent) {
      raw.refuse(
        "patternProperties",
        "the definition has too many patterns together with too many declared properties; declare fewer properties, or use fewer patterns",
      );
      return;
    }
    if (matching.length > 0) properties.set(name, allOfSchemas([property, ...matching.map(({ schema }) => schema)]));
  }
}

function refuseImpossibleNames(
  raw: RawObject,
  required: readonly string[],
  properties: ReadonlyMap<string, Schema>,
): void {
  const pointer = raw.pointerTo("required");
  for (const [index, name] of required.entries()) {
    if (properties.has(name)) continue;
    const hint = raw.hint(name, properties.keys());
    raw.refuseAt(
      pointerTo(pointer, index),
      `${quoted(name)} is required, but is not in \`properties\`, and no others are allowed${hint}`,
    );
  }
}
