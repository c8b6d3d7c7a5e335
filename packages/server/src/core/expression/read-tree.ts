import type { ASTNode } from "@marcbachmann/cel-js";
import { didYouMean } from "../closest-name.ts";
import { quoted } from "../problem.ts";
import { joinWords } from "../schema/type-set.ts";
import { findFunction, functionNames } from "./functions/catalog.ts";
import { familiarFunction } from "./functions/familiar-functions.ts";
import { type ExpressionFunction, signatureOf } from "./functions/function.ts";
import { isNamedRoot, isRootName, type NamedRoot, namedRoots, unknownName } from "./roots.ts";
import {
  type BinaryOperator,
  binaryOperators,
  isNamed,
  type Macro,
  macros,
  type NamedNode,
  type Node,
} from "./tree.ts";

/** Turns the library's tree into our own. Resolves the names, and refuses features of CEL that this service does not support. */
export function readTree(
  ast: ASTNode,
  source: string,
): { readonly node: Node } | { readonly problem: { readonly offset: number; readonly message: string } } {
  try {
    return { node: new TreeReader(source).read(ast, 0) };
  } catch (error) {
    if (error instanceof UnsupportedTree) return { problem: error };
    throw error;
  }
}

class UnsupportedTree {
  readonly offset: number;
  readonly message: string;

  constructor(offset: number, message: string) {
    this.offset = offset;
    this.message = message;
  }
}

/** The library bounds the nesting of brackets. But a chain such as `a + b + c` also makes a tree that is as deep as the chain is long. */
const maxDepth = 100;

class TreeReader {
  readonly #source: string;
  readonly #variables: string[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  read(ast: ASTNode, depth: number): Node {
    if (depth > maxDepth) {
      return refuse(
        ast,
        `has more than ${maxDepth} operations in a row or nested in each other; divide it among several steps`,
      );
    }
    const node = this.#readAny(ast, depth + 1);
    return isNamed(node) && node.part === undefined ? this.#refuseWhole(ast, node) : node;
  }

  #readAny(ast: ASTNode, depth: number): Node {
    const { start, end } = ast;
    switch (ast.op) {
      case "value":
        return { kind: "literal", value: literal(ast), start, end };
      case "id":
        return this.#name(ast);
      case ".":
        return this.#property(ast, ast.args[0], ast.args[1], depth);
      case "[]":
        return this.#index(ast, depth);
      case "list":
        return { kind: "list", items: this.#all(ast.args, depth), start, end };
      case "map": {
        const entries = ast.args.map(([key, value]) => [this.read(key, depth), this.read(value, depth)] as const);
        return { kind: "map", entries, start, end };
      }
      case "!_":
        return { kind: "not", of: this.read(ast.args, depth), start, end };
      case "-_":
        return { kind: "negative", of: this.read(ast.args, depth), start, end };
      case "&&":
      case "||": {
        const [left, right] = this.#all(ast.args, depth) as [Node, Node];
        return { kind: ast.op === "&&" ? "and" : "or", left, right, start, end };
      }
      case "?:": {
        const [condition, then, otherwise] = this.#all(ast.args, depth) as [Node, Node, Node];
        return { kind: "choice", condition, then, otherwise, start, end };
      }
      case "call":
        return this.#call(ast, ast.args[0], undefined, ast.args[1], depth);
      case "rcall":
        return this.#call(ast, ast.args[0], ast.args[1], ast.args[2], depth);
      default:
        return this.#binary(ast, depth);
    }
  }

  #binary(ast: ASTNode, depth: number): Node {
    const { op, start, end } = ast;
    if (!isBinary(op)) return refuse(ast, `has \`${op}\`, which is not known here`);
    const [left, right] = this.#all(ast.args as readonly ASTNode[], depth) as [Node, Node];
    return { kind: "binary", operator: op, left, right, start, end };
  }

  #all(asts: readonly ASTNode[], depth: number): readonly Node[] {
    return asts.map((ast) => this.read(ast, depth));
  }

  #name(ast: Ast<"id">): Node {
    const { args: name, start, end } = ast;
    const slot = this.#variables.lastIndexOf(name);
    if (slot !== -1) return { kind: "variable", name, slot, start, end };
    if (isRootName(name)) return { kind: "root", root: name, start, end };
    if (isNamedRoot(name)) {
      const { noun } = namedRoots[name];
      return refuse(ast, `\`${name}\` needs the name of one ${noun} after it: ${example(name)}`);
    }
    return refuse(ast, unknownName(name, this.#variables));
  }

  #property(ast: ASTNode, of: ASTNode, name: string, depth: number): Node {
    const { start, end } = ast;
    if (this.#isNamedRoot(of)) return this.#named(ast, of.args as NamedRoot, name);
    const node = this.#readAny(of, depth + 1);
    if (isNamed(node) && node.part === undefined) return partOf(ast, node, name, end - name.length);
    return { kind: "property", of: node, name, start, end };
  }

  #index(ast: Ast<"[]">, depth: number): Node {
    const [of, index] = ast.args;
    const { start, end } = ast;
    const name = index.op === "value" && typeof index.args === "string" ? index.args : undefined;
    if (this.#isNamedRoot(of)) {
      if (name !== undefined) return this.#named(ast, of.args as NamedRoot, name);
      return refuse(
        index,
        `the name must be a text in quotes, as in ${example(of.args as NamedRoot)}, because it must be known before a job runs which values the expression may read`,
      );
    }
    const node = this.#readAny(of, depth + 1);
    if (isNamed(node) && node.part === undefined) {
      return name === undefined ? this.#refuseWhole(of, node) : partOf(ast, node, name, index.start);
    }
    return { kind: "index", of: node, index: this.read(index, depth), start, end };
  }

  #isNamedRoot(ast: ASTNode): ast is Ast<"id"> {
    return ast.op === "id" && isNamedRoot(ast.args) && !this.#variables.includes(ast.args);
  }

  #named({ start, end }: ASTNode, root: NamedRoot, name: string): Node {
    switch (root) {
      case "steps":
        return { kind: "step", step: name, part: undefined, start, end };
      case "events":
        return { kind: "event", eventId: name, part: undefined, start, end };
      case "forks":
        return { kind: "fork", fork: name, part: undefined, start, end };
    }
  }

  #refuseWhole(ast: ASTNode, node: NamedNode): never {
    const written = /^[\w-]*/.exec(this.#source.slice(node.end))?.[0] ?? "";
    if (written.startsWith("-") && this.#source[node.end - 1] !== "]") {
      const inBrackets = `${rootOf(node)}["${nameOf(node)}${written}"]`;
      return refuse(ast, `a name with \`-\` in it is written in brackets, as in ${quoted(inBrackets)}`);
    }
    const parts = partsOf(node).map((part) => `\`.${part}\``);
    return refuse(
      ast,
      `${quoted(this.#source.slice(node.start, node.end))} has no value of its own; read ${joinWords(parts, "or")} of it`,
    );
  }

  #call(ast: ASTNode, name: string, receiver: ASTNode | undefined, args: readonly ASTNode[], depth: number): Node {
    const { start, end } = ast;
    if (receiver === undefined && name === "has") return this.#has(ast, args, depth);
    if (receiver !== undefined && isMacro(name)) return this.#macro(ast, name, receiver, args, depth);
    const isNamespace = receiver?.op === "id" && !isRootName(receiver.args) && !this.#variables.includes(receiver.args);
    const fullName = isNamespace ? `${receiver.args}.${name}` : name;
    const found = findFunction(fullName);
    const form = receiver === undefined || found?.name.includes(".") ? "function" : "method";
    const called = found ?? findFunction(name);
    if (called === undefined) {
      const known = [...functionNames(), ...macros, "has"];
      const start = receiver === undefined || isNamespace ? ast.start : this.#source.indexOf(name, receiver.end);
      const ours = familiarFunction(fullName);
      const hint = ours === undefined ? didYouMean(fullName, known) : `; \`${fullName}\` is \`${ours}\` here`;
      return refuse({ start }, `there is no function ${quoted(fullName)}${hint}`);
    }
    if (called.forms !== "both" && called.forms !== form) {
      return refuse(ast, `\`${name}\` is written ${usageOf(called)}`);
    }
    const all = form === "method" && receiver !== undefined ? [receiver, ...args] : args;
    const least = called.parameters.length - called.optionalCount;
    if (all.length < least || (!called.isVariadic && all.length > called.parameters.length)) {
      return refuse(ast, `\`${called.name}\` has the wrong number of arguments; it is written ${usageOf(called)}`);
    }
    return { kind: "call", called, args: this.#all(all, depth), start, end };
  }

  #has(ast: ASTNode, args: readonly ASTNode[], depth: number): Node {
    const { start, end } = ast;
    const [path] = args;
    const isPath = path !== undefined && (path.op === "." || path.op === "[]" || path.op === "id");
    if (!isPath || args.length > 1)
      return refuse(ast, "`has` asks whether one thing is there, as in `has(input.customer.email)`");
    return { kind: "has", of: this.#readAny(path, depth), start, end };
  }

  #macro(ast: ASTNode, macro: Macro, receiver: ASTNode, args: readonly ASTNode[], depth: number): Node {
    const { start, end } = ast;
    const isRight = args.length === 2 || (macro === "map" && args.length === 3);
    const [first, ...rest] = args;
    if (!isRight || first?.op !== "id") {
      return refuse(
        ast,
        `\`${macro}\` takes a name for the item and an expression, as in \`input.list.${macro}(item, item.isPaid)\``,
      );
    }
    const list = this.read(receiver, depth);
    const slot = this.#variables.length;
    this.#variables.push(first.args);
    const parts = this.#all(rest, depth);
    this.#variables.pop();
    const [filter, body] = macro === "filter" || parts.length === 2 ? parts : [undefined, parts[0]];
    return { kind: "macro", macro, list, variable: first.args, slot, filter, body, start, end };
  }
}

type Ast<Op extends ASTNode["op"]> = Extract<ASTNode, { readonly op: Op }>;

function literal(ast: Ast<"value">): string | number | boolean | null {
  const { args: value } = ast;
  switch (typeof value) {
    case "bigint":
      return wholeNumber(ast, value);
    case "string":
      return value.includes("\0")
        ? refuse(ast, "the text contains the character NUL, which cannot be stored; remove it")
        : value;
    case "number":
      return Math.abs(value) > Number.MAX_SAFE_INTEGER ? refuse(ast, tooLarge) : value;
    case "boolean":
      return value;
    default:
      if (value === null) return null;
      return refuse(ast, value instanceof Uint8Array ? noBytes : "JSON has no unsigned numbers; remove the `u`");
  }
}

function wholeNumber(ast: ASTNode, value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : refuse(ast, tooLarge);
}

const tooLarge = `the number is beyond ±${Number.MAX_SAFE_INTEGER} and would be changed; write it as a text`;
const noBytes = "JSON has no byte strings; write the text without `b`, and use `base64.encode`";

function partOf({ start, end }: ASTNode, node: NamedNode, name: string, nameStart: number): Node {
  const parts = partsOf(node);
  const part = parts.find((one) => one === name);
  if (part === undefined) {
    const words = parts.map((one) => `\`${one}\``);
    const noun = node.kind === "event" ? "an event" : `a ${node.kind}`;
    return refuse(
      { start: nameStart },
      `\`${name}\` is not a part of ${noun}; read ${joinWords(words, "or")}${didYouMean(name, parts)}`,
    );
  }
  return { ...node, part, start, end } as Node;
}

function partsOf(node: NamedNode): readonly string[] {
  return namedRoots[rootOf(node)].parts;
}

function rootOf({ kind }: NamedNode): NamedRoot {
  return kind === "step" ? "steps" : kind === "event" ? "events" : "forks";
}

function nameOf(node: NamedNode): string {
  return node.kind === "step" ? node.step : node.kind === "event" ? node.eventId : node.fork;
}

function example(root: NamedRoot): string {
  return examples[root];
}

const examples: Readonly<Record<NamedRoot, string>> = {
  steps: '`steps["reserve-stock"].output`',
  events: '`events["approved"].payload`',
  forks: '`forks["each-order"].item`',
};

function usageOf(called: ExpressionFunction): string {
  return `\`${signatureOf(called)}\``;
}

function isBinary(op: string): op is BinaryOperator {
  return (binaryOperators as readonly string[]).includes(op);
}

function isMacro(name: string): name is Macro {
  return (macros as readonly string[]).includes(name);
}

function refuse({ start }: { readonly start: number }, message: string): never {
  throw new UnsupportedTree(start, message);
}
