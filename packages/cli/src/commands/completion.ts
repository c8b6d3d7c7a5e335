import { Argument, type Command, type Option } from "commander";
import { print } from "../output/terminal.ts";

/**
 * Declares the commands for completion in the shell: a small script asks this command line which words may come next, so the script itself needs no
 * list of commands and options.
 */
export function declareCompletion(program: Command): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .description("print the completion script for a shell; `--help` says where to put it")
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

/** Returns the words that can replace the last one of `words`, which is empty or only the beginning of a word. */
export function candidatesFor(program: Command, words: readonly string[]): readonly string[] {
  const place = placeAfter(program, words.slice(0, -1));
  const begun = words.at(-1) ?? "";
  const [, name = "", value] = /^(--[\w-]+)=(.*)$/s.exec(begun) ?? [];
  if (value !== undefined) {
    const choices = valued(place.command, name)?.argChoices ?? [];
    return startingWith(value, choices).map((choice) => `${name}=${choice}`);
  }
  // Bash splits `--status=FAILED` at the equals sign. A word that is only `=` therefore means that the value has not been begun.
  if (place.option !== undefined) return startingWith(begun === "=" ? "" : begun, place.option.argChoices ?? []);
  if (begun.startsWith("-"))
    return startingWith(begun, ["--help", ...place.command.options.flatMap(({ long }) => long ?? [])]);
  const { command, argumentCount } = place;
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());
  return startingWith(begun, [...names, ...(command.registeredArguments[argumentCount]?.argChoices ?? [])]);
}

interface Place {
  readonly command: Command;
  /** The number of the command's arguments that have been given. */
  readonly argumentCount: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
}

/** Returns the place after these words: the command, and what can follow. */
function placeAfter(program: Command, words: readonly string[]): Place {
  let command = program;
  let argumentCount = 0;
  let option: Option | undefined;
  for (const word of words) {
    // Bash gives `--status=FAILED` as three words.
    if (word === "=") continue;
    const isValue = option !== undefined;
    option = isValue ? undefined : valued(command, word);
    if (isValue || word.startsWith("-")) continue;
    const next = command.commands.find((one) => one.name() === word);
    // After `help` come the same names of commands as at the beginning, so the place does not change.
    if (next?.name() === "help") continue;
    if (next === undefined) argumentCount += 1;
    else command = next;
  }
  return { command, argumentCount, option };
}

/** Returns the option of this name if it takes a value. */
function valued(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short, required }) => required && (long === name || short === name));
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
  set -l found (stepwell complete -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c stepwell -f -a '(__stepwell_complete)'
`,
} as const;
