import type { JsonValue } from "../json/json.ts";
import { describeValue } from "../json/raw-object.ts";
import { type ProblemList, quoted } from "../problem.ts";
import type { Schema, SchemaDraft } from "./node.ts";

/** A `$ref` that was read and not followed yet. */
export interface Reference {
  readonly schema: SchemaDraft;
  readonly target: JsonValue;
  /** Where the `$ref` stands. */
  readonly pointer: string;
}

/** Leads a `$ref` to the schema that it names. Only `#/definitions/<name>` is a name; nothing is ever fetched. */
export function resolveReference(
  { schema, target, pointer }: Reference,
  schemas: ReadonlyMap<string, Schema>,
  problems: ProblemList,
): void {
  const found = findDefinition(target, schemas, problems);
  if ("schema" in found) schema.allOf = [found.schema];
  else problems.add(pointer, found.problem);
}

/** The schema that a `$ref` names, or what is wrong with the `$ref`. */
export function findDefinition(
  target: JsonValue,
  schemas: ReadonlyMap<string, Schema>,
  hints: Hints,
): { readonly schema: Schema } | { readonly problem: string } {
  if (typeof target !== "string") return { problem: `must be a string, but is ${describeValue(target)}` };
  const token = target.startsWith(root) ? target.slice(root.length) : "";
  if (token === "" || token.includes("/") || /~(?![01])/.test(token)) {
    return {
      problem: `${quoted(target)} leads nowhere: a \`$ref\` has the form \`${root}<name>\`, and others are not followed`,
    };
  }
  const written = token.replaceAll("~1", "/").replaceAll("~0", "~");
  for (const name of [written, percentDecoded(written)]) {
    const schema = schemas.get(name);
    if (schema !== undefined) return { schema };
  }
  return { problem: `there is no definition ${quoted(written)}${hints.hint(written, schemas.keys())}` };
}

interface Hints {
  hint(name: string, candidates: Iterable<string>): string;
}

const root = "#/definitions/";

/** Strictly a `$ref` is a URI, in which `my order` is written `my%20order`; people write it both ways. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A schema that leads to others without going into a value, by `$ref` or `anyOf`, and where that stands. */
export interface Link {
  readonly schema: Schema;
  readonly pointer: string;
}

/**
 * Refuses links that lead back to where they begin: checking a value against those would never end. And chains of them that are
 * too long, since whoever follows them goes as deep.
 *
 * Takes away, again and again, the schemas whose links lead only to what was taken away before; what is left at the end is
 * on a cycle or leads to one. (No recursion: half a megabyte holds a chain of fifteen thousand.)
 */
export function refuseCycles(links: readonly Link[], problems: ProblemList): void {
  const pointers = new Map(links.map(({ schema, pointer }) => [schema, pointer]));
  const holders = new Map<Schema, Schema[]>();
  const pendingCounts = new Map<Schema, number>();
  for (const schema of pointers.keys()) {
    const targets = linkedSchemas(schema).filter((target) => pointers.has(target));
    pendingCounts.set(schema, targets.length);
    for (const target of targets) addTo(holders, target, schema);
  }
  let settled = [...pointers.keys()].filter((schema) => pendingCounts.get(schema) === 0);
  for (let chainLength = 1; settled.length > 0; chainLength++) {
    if (chainLength === maxChainLength + 1) {
      for (const schema of settled) problems.add(pointers.get(schema) ?? "", chainTooLong);
    }
    settled = settled.flatMap((schema) =>
      (holders.get(schema) ?? []).filter((holder) => countDown(pendingCounts, holder)),
    );
  }
  for (const [schema, pointer] of pointers) {
    if ((pendingCounts.get(schema) ?? 0) > 0) problems.add(pointer, leadsIntoCircle);
  }
}

/** Deep enough for any model. Checks recurse as deep for every level of a value, so that sixty-four levels need room on the stack. */
const maxChainLength = 16;
const leadsIntoCircle =
  "leads into a circle of `$ref`s and `anyOf`s that never goes into a value, so that no check of a value would end";
const chainTooLong = `leads through more than ${maxChainLength} schemas in a row, by \`$ref\` or \`anyOf\`, without going into a value`;

function linkedSchemas(schema: Schema): readonly Schema[] {
  return [...(schema.allOf ?? []), ...(schema.anyOf ?? [])];
}

function addTo(holders: Map<Schema, Schema[]>, target: Schema, holder: Schema): void {
  const known = holders.get(target);
  if (known === undefined) holders.set(target, [holder]);
  else known.push(holder);
}

/** Whether this was the last that the schema waited for. */
function countDown(pendingCounts: Map<Schema, number>, schema: Schema): boolean {
  const count = (pendingCounts.get(schema) ?? 0) - 1;
  pendingCounts.set(schema, count);
  return count === 0;
}
