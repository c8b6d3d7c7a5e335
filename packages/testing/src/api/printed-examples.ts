/** A block of a program in a document, and what the block prints. */
export interface PrintedExample {
  readonly code: string;
  readonly output: string;
}

/** The `ts` blocks of a document, each with the `text` block after it, which has the output. */
export function printedExamplesIn(markdown: string): readonly PrintedExample[] {
  const blocks = markdown.matchAll(/^```ts\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```$)?/gm);
  return [...blocks].map(([, code = "", output = ""]) => ({ code, output }));
}

/** Joins the examples into one program, which prints a mark between their outputs. */
export function programOf(examples: readonly PrintedExample[]): string {
  return examples.map(({ code }) => code).join(`console.log("${mark}");\n`);
}

/** Splits the output of such a program into the outputs of its examples, in their order. */
export function outputsIn(printed: string): readonly string[] {
  return printed.split(`${mark}\n`);
}

const mark = "----";
