import { Argument, type Command } from "commander";
import { print } from "./terminal.ts";

/** Completion in the shell: a small script there asks this command line what may come next, so it knows every command and option. */
export function declareCompletion(program: Command): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .description("print the completion for a shell; `--help` says where to put it")
    .addHelpText("after", `\n${whereItGoes}`)
    .action((shell: keyof typeof scripts) => print(scripts[shell].trim()));
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action((words: readonly string[]) => {
      for (const candidate of candidatesFor(program, words)) print(candidate);
    });
}

const whereItGoes = `bash: add to ~/.bashrc     source <(stepwell completion bash)
zsh:  add to ~/.zshrc      source <(stepwell completion zsh)     (after compinit)
fish: run once             stepwell completion fish > ~/.config/fish/completions/stepwell.fish`;

/** The words that may stand in the place of the last one, which is begun or empty. */
export function candidatesFor(program: Command, words: readonly string[]): readonly string[] {
  const before = words.slice(0, -1);
  const begun = words.at(-1) ?? "";
  let command = program;
  let argumentCount = 0;
  for (const word of before) {
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
    else if (!word.startsWith("-")) argumentCount += 1;
  }
  const option = command.options.find(({ long }) => long === before.at(-1));
  if (option !== undefined && (option.required || option.optional)) return startingWith(begun, option.argChoices ?? []);
  if (begun.startsWith("-"))
    return startingWith(begun, ["--help", ...command.options.flatMap(({ long }) => long ?? [])]);
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());
  return startingWith(begun, [...names, ...(command.registeredArguments[argumentCount]?.argChoices ?? [])]);
}

function startingWith(begun: string, words: readonly string[]): readonly string[] {
  return words.filter((word) => word.startsWith(begun));
}

const scripts = {
  bash: `
_stepwell() {
  local IFS=$'\\n'
  COMPREPLY=($(stepwell complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _stepwell stepwell
`,
  zsh: `
#compdef stepwell
_stepwell() {
  local -a found
  found=("\${(@f)$(stepwell complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _stepwell stepwell
`,
  fish: `
function __stepwell_complete
  set -l words (commandline -opc) (commandline -ct)
  stepwell complete -- $words[2..] 2>/dev/null
end
complete -c stepwell -a '(__stepwell_complete)'
`,
} as const;
