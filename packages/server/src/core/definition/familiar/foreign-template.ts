import { isJsonObject, type JsonValue } from "../../json/json.ts";
import { type ProblemList, pointerTo, quoted } from "../../problem.ts";

/**
 * Warns of the template syntax of other languages. Here it would be plain text, which is rarely intended. There is no warning for a text with
 * `{{ … }}` that matches no known form, because it may be a template for another program.
 */
export function warnOfForeignTemplate(value: JsonValue, pointer: string, warnings: ProblemList): void {
  if (typeof value === "string") {
    if (jsonPath.test(value) || braces.test(value))
      warnings.add(
        pointer,
        `${quoted(value)} is used as it is written; an expression is written as in \`\${ input.name }\``,
      );
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) warnOfForeignTemplate(item, pointerTo(pointer, index), warnings);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const inner = pointerTo(pointer, key);
      if (typeof item === "string" && key.endsWith(".$"))
        warnings.add(
          inner,
          `${quoted(key)} is used unchanged as the name of a property; leave out the \`.$\`, and write the value as in \`\${ input.name }\``,
        );
      else warnOfForeignTemplate(item, inner, warnings);
    }
  }
}

/** The form `$.order.sku` of Amazon States Language. */
const jsonPath = /^\$\$?[.[]/;
/** The form `{{ steps.reserve.sku }}`, also with other roots. */
const braces = /^\s*\{\{\s*(?:\$|(?:inputs?|steps|outputs?|events?|workflow|job|context|tasks)\b)[^{}]*\}\}\s*$/;
