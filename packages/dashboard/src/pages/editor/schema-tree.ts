import type { EditorState } from "@codemirror/state";
import { type Node, nodeAt, propertiesOf, textOf, valuesIn } from "./json-tree.ts";
import type { Word } from "./word.ts";

/** The properties that values of these schemas may have, according to the text of the definition. */
export function propertiesOfSchemas(state: EditorState, schemas: readonly Node[]): readonly Word[] {
  const found = new Map<string, Word>();
  for (const schema of wholeSchemas(state, schemas)) {
    for (const [text, property] of propertiesOf(state, propertiesOf(state, schema).get("properties"))) {
      const info = textOf(state, propertiesOf(state, property).get("description"));
      if (!found.has(text)) found.set(text, info === undefined ? { text } : { text, info });
    }
  }
  return [...found.values()];
}

/** The schemas of a property, or of an item of a list. */
export function schemasWithin(state: EditorState, schemas: readonly Node[], key: string | number): readonly Node[] {
  return wholeSchemas(state, schemas).flatMap((schema) => {
    const fields = propertiesOf(state, schema);
    const inner =
      typeof key === "number" ? fields.get("items") : propertiesOf(state, fields.get("properties")).get(key);
    return inner ?? [];
  });
}

/** Returns the schemas, and the schemas to which their `$ref`, `allOf`, `anyOf` and `oneOf` lead. */
function wholeSchemas(state: EditorState, schemas: readonly Node[], depth = 0): readonly Node[] {
  // References may form a circle.
  if (depth > maxDepth) return [];
  return schemas.flatMap((schema) => {
    const fields = propertiesOf(state, schema);
    const referred = nodeOfReference(state, textOf(state, fields.get("$ref")));
    const parts = combining.flatMap((word) => {
      const list = fields.get(word);
      return list?.name === "Array" ? valuesIn(list) : [];
    });
    const others = [...parts, ...(referred === undefined ? [] : [referred])];
    return [schema, ...wholeSchemas(state, others, depth + 1)];
  });
}

const maxDepth = 8;
const combining = ["allOf", "anyOf", "oneOf"];

function nodeOfReference(state: EditorState, reference: string | undefined): Node | undefined {
  if (reference === undefined || !reference.startsWith("#/")) return undefined;
  return nodeAt(state, reference.slice(2).split("/"));
}
