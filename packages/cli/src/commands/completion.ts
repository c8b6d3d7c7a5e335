import { Argument, type Command, type Option } from "commander";
import { print } from "../output/terminal.ts";

/**
 * Completion in the shell: a small script there asks this command line which words may come next, so it knows every
 * command and option.
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

/** The words that may stand in the place of the last one, which is begun or empty. */
export function candidatesFor(program: Command, words: readonly string[]): readonly string[] {
  const place = placeAfter(program, words.slice(0, -1));
  const begun = words.at(-1) ?? "";
  const [, name = "", value] = /^(--[\w-]+)=(.*)$/s.exec(begun) ?? [];
  if (value !== undefined) {
    const choices = valued(place.command, name)?.argChoices ?? [];
    return startingWith(value, choices).map((choice) => `${name}=${choice}`);
  }
  // A word that only consists of the equals sign is one that bash has split off: the value begins behind it.
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
  /** The number of the command's arguments that are given already. */
  readonly argumentCount: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
}

/** The place to which these words lead: the command, and the kinds of words that can follow. */
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
    // The names of commands stand behind `help`, as they do at the beginning.
    if (next?.name() === "help") continue;
    if (next === undefined) argumentCount += 1;
    else command = next;
  }
  return { command, argumentCount, option };
}

/** The option of this name, where it takes a value. */
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
