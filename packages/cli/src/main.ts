import { CommanderError } from "commander";
import { exitCodeOf } from "./exit-code.ts";
import { printNextSteps } from "./next-steps.ts";
import { withCurrentNames } from "./old-names.ts";
import { endWithReader, explain } from "./output/terminal.ts";
import { declareProgram } from "./program.ts";

const words = process.argv.slice(2);

endWithReader();
try {
  if (words.length === 0) printNextSteps();
  else await declareProgram().parseAsync(withCurrentNames(words), { from: "user" });
} catch (error) {
  // The parser has already printed the mistake in the command line, or the requested help.
  if (!(error instanceof CommanderError)) explain(error);
  // The exit code alone is not enough: a connection on which the database waits for a password would hold the process for a minute.
  process.exit(exitCodeOf(error));
}
