import type { Command } from "commander";

/** `help job list` is `job list --help`. The parser's own command takes one name, and would print the help of `job`. */
export function declareHelp(program: Command): void {
  program
    .helpCommand(false)
    .command("help")
    .argument("[command...]", "the names of a command, such as `job list`")
    .description("print the help of a command")
    .action((names: readonly string[]) => {
      let command = program;
      for (const name of names) {
        const next = command.commands.find((one) => one.name() === name);
        if (next === undefined)
          return command.error(`error: unknown command '${name}'`, { code: "stepwell.unknownCommand" });
        command = next;
      }
      return command.help();
    });
}
