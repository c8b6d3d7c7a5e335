import { isJsonObject, type JsonValue } from "../json/json.ts";
import { pointerTo } from "../problem.ts";
import { allowOnly, closedObject, newSchema, type Schema } from "../schema/node.ts";
import type { PlacedExpression, Template, TemplateNode, TemplateProblem } from "./template.ts";
import { tupleOf, typeOfSchema, typeOfValue } from "./types/type.ts";
import type { TypeScope } from "./types/type-scope.ts";
import { type Finding, typeOf } from "./typing/type-of.ts";
import { kinds } from "./value.ts";

export interface TemplateType {
  /** The schema of the template's value, if it can have a value. */
  readonly schema: Schema;
  /** Findings about parts that certainly fail, or are certainly a mistake. */
  readonly problems: readonly TemplateProblem[];
  /** Findings about parts that fail for some possible values. */
  readonly mayFail: readonly TemplateProblem[];
}

/** Returns the type of a template, as `typeOf` does for an expression. Pointers lead into the template. */
export function templateType({ root }: Template, scope: TypeScope): TemplateType {
  const typing = new TemplateTyping(scope);
  const schema = typing.schema(root, "");
  return { schema, problems: typing.problems, mayFail: typing.mayFail };
}

class TemplateTyping {
  readonly problems: TemplateProblem[] = [];
  readonly mayFail: TemplateProblem[] = [];
  readonly #scope: TypeScope;

  constructor(scope: TypeScope) {
    this.#scope = scope;
  }

  schema(node: TemplateNode, pointer: string): Schema {
    switch (node.kind) {
      case "constant":
        return schemaOfConstant(node.value);
      case "expression":
        return this.#expression(node.placed, pointer);
      case "text": {
        const literals = node.parts.map((part) => this.#literal(part, pointer)).join("");
        const strings = { ...freeText, minLength: Array.from(literals).length };
        return newSchema({ types: kinds.string, strings });
      }
      case "list": {
        const items = node.items.map((item, index) => typeOfSchema(this.schema(item, pointerTo(pointer, index))));
        return tupleOf(items).schema;
      }
      case "map": {
        const properties = new Map(
          node.entries.map(([key, part]) => [key, this.schema(part, pointerTo(pointer, key))] as const),
        );
        return closedObject(properties, [...properties.keys()], kinds.object);
      }
      default:
        return node satisfies never;
    }
  }

  /** Returns the text that is certainly at this place. For an expression it is empty. */
  #literal(part: string | PlacedExpression, pointer: string): string {
    if (typeof part === "string") return part;
    this.#expression(part, pointer);
    return "";
  }

  #expression({ expression, offset }: PlacedExpression, pointer: string): Schema {
    const { schema, problems, mayFail } = typeOf(expression, this.#scope);
    const placed = (finding: Finding): TemplateProblem => ({
      pointer,
      offset: offset + finding.offset,
      detail: finding.message,
    });
    this.problems.push(...problems.map(placed));
    this.mayFail.push(...mayFail.map(placed));
    return schema;
  }
}

/** Returns a schema in which each property, and each item of a short list, has its own type, because later steps read them one by one. */
function schemaOfConstant(value: JsonValue): Schema {
  if (typeof value !== "object" || value === null) return typeOfValue(value).schema;
  const known = constants.get(value) ?? newSchema({ ...shapeOf(value), allowed: allowOnly([value]) });
  constants.set(value, known);
  return known;
}

function shapeOf(value: JsonValue): Schema {
  if (Array.isArray(value)) return tupleOf(value.map((item) => typeOfSchema(shapeOf(item)))).schema;
  if (!isJsonObject(value)) return typeOfValue(value).schema;
  const properties = new Map(Object.entries(value).map(([key, part]) => [key, shapeOf(part)] as const));
  return closedObject(properties, [...properties.keys()], kinds.object);
}

/** A definition's constants never change, and their schemas are needed more than once. */
const constants = new WeakMap<object, Schema>();

const freeText = { maxLength: Number.POSITIVE_INFINITY, pattern: undefined, format: undefined };
