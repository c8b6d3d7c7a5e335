/** Commands in one block, and what they print together. */
export interface TutorialStep {
  readonly commands: readonly string[];
  readonly output: string;
}

/** The `sh` blocks of a document, each with the `text` block after it. Throws for an `sh` block without one, since its output would not be tested. */
export function tutorialStepsIn(markdown: string): readonly TutorialStep[] {
  const blocks = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$(?:\n\n```text\n([\s\S]*?)^```$)?/gm)];
  return blocks.map(([, commands = "", output]) => {
    if (output === undefined) throw new Error(`No \`text\` block stands behind:\n${commands}`);
    return { commands: commands.trim().split("\n"), output: comparable(output) };
  });
}

/** Replaces everything in an output that differs each time: ids, times, durations, the address of the service, and the widths of columns. */
export function comparable(output: string): string {
  return output
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "ID")
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\b[\d.]+ (ms|s|min)\b/g, "DURATION")
    .replace(/localhost:\d+/g, "ADDRESS")
    .replace(/(\S) {2,}/g, "$1  ")
    .trim();
}
