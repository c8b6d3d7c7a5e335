import { isId } from "./id.ts";

/**
 * Translates a command line with old names of commands into the present names. Old names still work, with their former
 * output.
 */
export function withCurrentNames(words: readonly string[]): readonly string[] {
  const [first = "", second = "", ...rest] = words;
  switch (first) {
    case "job":
      return isId(second) ? ["job", "show", second, ...rest, "--json"] : words;
    case "event":
      return isId(second) ? ["event", "send", second, ...rest, "--json"] : words;
    case "task-queues":
      return ["queue", "list", ...words.slice(1)];
    case "task-queue":
      return ["queue", ...words.slice(1), ...(second === "show" ? ["--json"] : [])];
    case "submit-task":
      return ["queue", "submit", ...words.slice(1), "--json"];
    case "organization":
      return ["org", ...words.slice(1)];
    default:
      return words;
  }
}
