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
  // The parser has already printed what is wrong with the command line, or the requested help.
  if (!(error instanceof CommanderError)) explain(error);
  // Setting the exit code is not enough: a connection on which the database waits for a password would keep the process alive for a minute.
  process.exit(exitCodeOf(error));
}
