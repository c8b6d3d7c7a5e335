import { isJsonObject, type JsonValue } from "../json/json.ts";
import { type ProblemList, pointerTo, quoted } from "../problem.ts";

/**
 * Warns of what people write in a template who know another language. It is text like any other and taken as it stands, which is hardly ever meant.
 * A text that only holds `{{ … }}` may be a template for somebody else, and passes.
 */
export function warnOfForeignTemplate(value: JsonValue, pointer: string, warnings: ProblemList): void {
  if (typeof value === "string") {
    if (jsonPath.test(value) || braces.test(value))
      warnings.add(
        pointer,
        `${quoted(value)} is taken as it stands; an expression is written as in \`\${ input.name }\``,
      );
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) warnOfForeignTemplate(item, pointerTo(pointer, index), warnings);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const inner = pointerTo(pointer, key);
      if (typeof item === "string" && key.endsWith(".$"))
        warnings.add(
          inner,
          `${quoted(key)} is taken as a name as it stands; leave out the \`.$\`, and write the value as in \`\${ input.name }\``,
        );
      else warnOfForeignTemplate(item, inner, warnings);
    }
  }
}

/** `$.order.sku` of Amazon States Language. */
const jsonPath = /^\$\$?[.[]/;
/** `{{ steps.reserve.sku }}`, and with other roots. */
const braces = /^\s*\{\{\s*(?:\$|(?:inputs?|steps|outputs?|events?|workflow|job|context|tasks)\b)[^{}]*\}\}\s*$/;
