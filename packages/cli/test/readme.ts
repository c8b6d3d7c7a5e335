export interface ShellLine {
  readonly command: string;
  /** The text after the `#`; empty if there is none. */
  readonly remark: string;
}

/** The lines of a document's `sh` blocks. */
export function shellLinesIn(markdown: string): readonly ShellLine[] {
  const blocks = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? "");
  return blocks.flatMap((block) =>
    block.split("\n").flatMap((line) => {
      const [command = "", remark = ""] = line.split(/\s+#\s*(.*)$/);
      return command.trim() === "" ? [] : { command: command.trim(), remark };
    }),
  );
}

export function commandsIn(markdown: string): readonly string[] {
  return shellLinesIn(markdown).map(({ command }) => command);
}
