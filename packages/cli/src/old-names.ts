import { isId } from "./id.ts";

/** The words of a command line in the names that commands have now. What had another name goes on under it, and prints what it printed. */
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
