import { isJsonObject, type JsonValue } from "../json/json.ts";
import { type Problem, pointerTo } from "../problem.ts";
import { type Expression, parseExpression } from "./parse.ts";
import type { Reference } from "./references.ts";
import { closingBrace } from "./source-walk.ts";

/** A JSON value with expressions in its strings, parsed. Immutable. */
export interface Template {
  readonly root: TemplateNode;
  /** Everything that the template's expressions may read. A value that several expressions read is listed once for each of them. */
  readonly references: readonly Reference[];
}

/** A part of a template. A constant has no expression. Its value is as it was written, with `${` for each `$${`. */
export type TemplateNode =
  | { readonly kind: "constant"; readonly value: JsonValue }
  /** A string that consists of one expression. The value keeps the type of the expression's value. */
  | { readonly kind: "expression"; readonly placed: PlacedExpression }
  | { readonly kind: "text"; readonly parts: readonly (string | PlacedExpression)[] }
  | { readonly kind: "list"; readonly items: readonly TemplateNode[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [key: string, value: TemplateNode])[] };

/** An expression, and the offset in its string at which it begins. */
export interface PlacedExpression {
  readonly expression: Expression;
  readonly offset: number;
}

/** `offset` counts UTF-16 units in the string at the pointer. */
export type TemplateProblem = Problem & { readonly offset: number };

/** Reads the expressions, written `${ … }`, in every string of a value. Keys have no expressions. */
export function parseTemplate(
  value: JsonValue,
): { readonly template: Template } | { readonly problems: readonly TemplateProblem[] } {
  const reader = new TemplateReader();
  const root = reader.read(value, "");
  if (reader.problems.length > 0) return { problems: reader.problems };
  return { template: { root, references: reader.references } };
}

/** Whether a template always has the same value. */
export function isConstant({ root }: Template): boolean {
  return root.kind === "constant";
}

class TemplateReader {
  readonly problems: TemplateProblem[] = [];
  readonly references: Reference[] = [];

  read(value: JsonValue, pointer: string): TemplateNode {
    if (typeof value === "string") return this.#text(value, pointer);
    if (Array.isArray(value)) {
      const items = value.map((item, index) => this.read(item, pointerTo(pointer, index)));
      const values = constantsOf(items);
      if (values === undefined) return { kind: "list", items };
      return constant(values.every((item, index) => item === value[index]) ? value : values);
    }
    if (!isJsonObject(value)) return constant(value);
    const entries = Object.entries(value).map(
      ([key, part]) => [key, this.read(part, pointerTo(pointer, key))] as const,
    );
    const values = constantsOf(entries.map(([, part]) => part));
    if (values === undefined) return { kind: "map", entries };
    const isUnchanged = entries.every(([key], index) => values[index] === value[key]);
    return constant(
      isUnchanged ? value : Object.fromEntries(entries.map(([key], index) => [key, values[index] as JsonValue])),
    );
  }

  #text(source: string, pointer: string): TemplateNode {
    if (!source.includes("${")) return constant(source);
    const parts: (string | PlacedExpression)[] = [];
    let literal = "";
    let position = 0;
    while (position < source.length) {
      const start = source.indexOf("${", position);
      if (start === -1) break;
      if (source[start - 1] === "$" && start > position) {
        literal += `${source.slice(position, start - 1)}\${`;
        position = start + 2;
        continue;
      }
      literal += source.slice(position, start);
      const end = closingBrace(source, start + 2);
      if (end === undefined) {
        this.problems.push({ pointer, offset: start, detail: notClosed });
        return constant(source);
      }
      if (literal !== "") parts.push(literal);
      literal = "";
      const placed = this.#expression(source.slice(start + 2, end), start + 2, pointer);
      if (placed !== undefined) parts.push(placed);
      position = end + 1;
    }
    literal += source.slice(position);
    if (literal !== "") parts.push(literal);
    const [only, ...others] = parts;
    if (others.length > 0) return { kind: "text", parts };
    return typeof only === "object" ? { kind: "expression", placed: only } : constant(only ?? "");
  }

  #expression(source: string, offset: number, pointer: string): PlacedExpression | undefined {
    const parsed = parseExpression(source);
    if ("problem" in parsed) {
      this.problems.push({ pointer, offset: offset + parsed.problem.offset, detail: parsed.problem.message });
      return undefined;
    }
    this.references.push(...parsed.expression.references);
    return { expression: parsed.expression, offset };
  }
}

const notClosed = "the expression that begins here is not closed; end it with `}`, or write `$${` for a plain `${`";

function constant(value: JsonValue): TemplateNode {
  return { kind: "constant", value };
}

/** Returns the values of the nodes; undefined when one of them has an expression. */
function constantsOf(nodes: readonly TemplateNode[]): JsonValue[] | undefined {
  const values: JsonValue[] = [];
  for (const node of nodes) {
    if (node.kind !== "constant") return undefined;
    values.push(node.value);
  }
  return values;
}
