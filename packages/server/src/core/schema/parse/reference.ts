import type { JsonValue } from "../../json/json.ts";
import { describeValue } from "../../json/raw-object.ts";
import { type ProblemList, quoted } from "../../problem.ts";
import type { Schema, SchemaDraft } from "../node.ts";

/**
 * The places that a `$ref` may name besides the other schemas of `definitions`: its own schema of `definitions` (as `#`), and the `$defs` of that
 * schema. So a schema that a tool exported as a separate document can be pasted in unchanged.
 */
export interface Scope {
  /** The pointer to the schema of `definitions` that has the `$ref`. */
  readonly pointer: string;
  root: Schema;
  readonly defs: Map<string, Schema>;
}

/** A `$ref` that was read but is not resolved yet. */
export interface Reference {
  readonly schema: SchemaDraft;
  readonly target: JsonValue;
  readonly scope: Scope;
  /** Where the `$ref` stands. */
  readonly pointer: string;
}

/** Resolves a `$ref` to the schema that it names. Nothing is fetched. */
export function resolveReference(
  { schema, target, scope, pointer }: Reference,
  schemas: ReadonlyMap<string, Schema>,
  problems: ProblemList,
): void {
  const found = findInScope(target, scope, schemas, problems);
  if ("schema" in found) schema.allOf = [...(schema.allOf ?? []), found.schema];
  else problems.add(pointer, found.problem);
}

type Found = { readonly schema: Schema } | { readonly problem: string };

function findInScope(target: JsonValue, scope: Scope, schemas: ReadonlyMap<string, Schema>, hints: Hints): Found {
  if (target === "#") return { schema: scope.root };
  const isLocal = typeof target === "string" && target.startsWith(localRoot);
  return isLocal
    ? findByName(target, localRoot, "the `$defs` of this schema have no entry with the name", scope.defs, hints)
    : findDefinition(target, schemas, hints);
}

/** Returns the definition that a `$ref` names, or the problem of the `$ref`. */
export function findDefinition(target: JsonValue, schemas: ReadonlyMap<string, Schema>, hints: Hints): Found {
  if (typeof target !== "string") return { problem: `must be a string, but is ${describeValue(target)}` };
  return findByName(target, root, "there is no definition", schemas, hints);
}

function findByName(
  target: string,
  prefix: string,
  noSuch: string,
  schemas: ReadonlyMap<string, Schema>,
  hints: Hints,
): Found {
  const token = target.startsWith(prefix) ? target.slice(prefix.length) : "";
  if (token === "" || token.includes("/") || /~(?![01])/.test(token)) {
    return {
      problem: `${quoted(target)} leads nowhere: a \`$ref\` has the form \`${root}<name>\`, or for parts of the same schema \`${localRoot}<name>\` or \`#\`; other forms are not supported`,
    };
  }
  const written = token.replaceAll("~1", "/").replaceAll("~0", "~");
  for (const name of [written, percentDecoded(written)]) {
    const schema = schemas.get(name);
    if (schema !== undefined) return { schema };
  }
  return { problem: `${noSuch} ${quoted(written)}${hints.hint(written, schemas.keys())}` };
}

interface Hints {
  hint(name: string, candidates: Iterable<string>): string;
}

const root = "#/definitions/";
const localRoot = "#/$defs/";

/** A `$ref` is a URI, in which `my order` must be written as `my%20order`. But people write it both ways. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
