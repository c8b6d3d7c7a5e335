/** One line below a definition in the documentation: its first word, and the text after the word. */
export interface DocumentedLine {
  readonly word: string;
  readonly rest: string;
}

/** A whole definition in the documentation, with the lines below it. */
export interface DocumentedExample {
  readonly heading: string;
  readonly definition: string;
  /** The lines that say how the service answers the registration, before there is any job. */
  readonly findings: readonly DocumentedLine[];
  /** The lines of each job, which begin with its input. */
  readonly runs: readonly (readonly DocumentedLine[])[];
}

/**
 * Returns the definitions in a document. Each is a `json` block, and the `text` block after it says how the service answers the registration or what
 * its jobs do. Throws if one of the two blocks is missing, since no test would try the other one.
 */
export function examplesIn(markdown: string): readonly DocumentedExample[] {
  const examples: DocumentedExample[] = [];
  let heading = "";
  let definition: string | undefined;
  for (const [, title, language, block = ""] of markdown.matchAll(/^##+ (.*)$|^```(json|text)\n([\s\S]*?)^```$/gm)) {
    if ((language !== "text") === (definition !== undefined)) throw unpaired(heading);
    if (title !== undefined) heading = title;
    if (language === "json") definition = block;
    else if (language === "text" && definition !== undefined) {
      examples.push({ heading, definition, ...readTranscript(block) });
      definition = undefined;
    }
  }
  if (definition !== undefined) throw unpaired(heading);
  return examples;
}

function unpaired(heading: string): Error {
  return new Error(`Below "${heading}", a \`json\` block needs one \`text\` block after it.`);
}

function readTranscript(block: string): Pick<DocumentedExample, "findings" | "runs"> {
  const lines = block.split("\n").flatMap((line): DocumentedLine[] => {
    const [, word, rest = ""] = /^(\S+)(?: +(.*))?$/.exec(line) ?? [];
    return word === undefined ? [] : [{ word, rest }];
  });
  const starts = lines.flatMap(({ word }, index) => (word === "input" ? index : []));
  return {
    findings: lines.slice(0, starts[0]),
    runs: starts.map((start, index) => lines.slice(start, starts[index + 1])),
  };
}
