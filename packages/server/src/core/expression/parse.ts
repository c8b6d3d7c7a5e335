import { Environment, ParseError } from "@marcbachmann/cel-js";
import { quoted } from "../problem.ts";
import { readTree } from "./read-tree.ts";
import { type Reference, referencesOf } from "./references.ts";
import { tooManySigns } from "./source-walk.ts";
import type { Node } from "./tree.ts";

/** A parsed expression. Immutable. */
export interface Expression {
  readonly source: string;
  readonly tree: Node;
  /** Everything that the expression may read. It is known without an evaluation. */
  readonly references: readonly Reference[];
}

/** One problem of an expression; `offset` counts UTF-16 units in its source. */
export interface ExpressionProblem {
  readonly offset: number;
  readonly message: string;
}

/** Reads an expression in CEL, the Common Expression Language. */
export function parseExpression(
  source: string,
): { readonly expression: Expression } | { readonly problem: ExpressionProblem } {
  const tree = parseTree(source);
  if ("problem" in tree) return tree;
  return { expression: { source, tree: tree.node, references: referencesOf(tree.node) } };
}

function parseTree(source: string): { readonly node: Node } | { readonly problem: ExpressionProblem } {
  if (source.length > maxSourceLength) {
    return refuse(
      0,
      `has ${source.length} characters; ${maxSourceLength} are allowed, so divide it among several steps`,
    );
  }
  if (source.trim() === "") return refuse(0, "is empty; write an expression such as `input.name`");
  const signs = tooManySigns(source, maxSigns);
  if (signs !== undefined)
    return refuse(signs, `has more than ${maxSigns} signs in a row (\`!\` or \`-\`); remove them`);
  try {
    return readTree(grammar.parse(source).ast, source);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return refuse(Math.min(error.range?.start ?? 0, source.length), wordsOf(error, source));
  }
}

/** About a page of text. */
const maxSourceLength = 4_000;
/** The maximum number of signs (`!` and `-`) in a row. Even two are rare. */
const maxSigns = 8;
const limits = {
  maxAstNodes: 1_000,
  maxDepth: 50,
  maxListElements: 1_000,
  maxMapEntries: 1_000,
  maxCallArguments: 100,
};

/** The library is used only for parsing. Its own evaluation and types use other numbers than JSON, and do not bound the work. */
const grammar = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false, limits });

/** Explains the library's message in the words of this service. */
function wordsOf(error: ParseError, source: string): string {
  const found = source.slice(error.range?.start ?? 0, Math.max(error.range?.end ?? 0, (error.range?.start ?? 0) + 1));
  switch (error.code) {
    case "unexpected_token":
    case "expected_token":
      return found === "" ? "ends too early; something is missing at its end" : unexpected(found, source, error);
    case "unexpected_character":
      return unexpected(found, source, error);
    case "unterminated_string":
    case "unterminated_triple_quoted_string":
      return "has a text that does not end; close it with the quote that opens it";
    case "newline_in_string":
      return "has a line break in a text; write it as `\\n`";
    case "reserved_identifier":
      return `\`${found}\` is a reserved word; a property of that name is read with brackets, as in \`input["${found}"]\``;
    case "limit_exceeded":
      return "is too large or nested too deeply; divide it among several steps";
    case "invalid_macro_argument":
      return "needs a plain name for the item here, as in `input.list.map(item, item.name)`";
    default:
      return `is not an expression: ${error.summary}`;
  }
}

function unexpected(found: string, source: string, { range }: ParseError): string {
  const [first = found] = found;
  if (first === "=") {
    const isTriple = source.slice(0, range?.start).endsWith("==");
    return isTriple ? "has `===`; equality is written `==`" : "has a single `=`; equality is written `==`";
  }
  if (first === "&" || first === "|") return `has a single \`${first}\`; write \`${first}${first}\``;
  const ours = operatorsOfOthers.get(found.toLowerCase());
  if (ours !== undefined) return `has ${found === "`" ? "a backquote" : quoted(found)}; ${ours}`;
  return `has ${quoted(found)}, which is not allowed at this place`;
}

/** Operators and words of other languages, with our way of writing them. */
const operatorsOfOthers: ReadonlyMap<string, string> = new Map([
  ["and", "write `&&`"],
  ["or", "write `||`"],
  ["not", "write `!`"],
  ["is", "equality is written `==`"],
  ["?", "to replace a value that may be missing, write `has(input.name) ? input.name : 'none'`"],
  ["$", "write `input`, `output` or another name that can be read, without `$`"],
  ["`", "write a text in quotes, as in `'text'`"],
]);

function refuse(offset: number, message: string): { readonly problem: ExpressionProblem } {
  return { problem: { offset, message } };
}
