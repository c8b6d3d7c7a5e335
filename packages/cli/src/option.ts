import { type Command, InvalidArgumentError } from "commander";
import { nameOf, readText } from "./input-file.ts";

/** The value of an option that takes JSON: in the command line itself, `@FILE`, or `-` for standard input. */
export function parseJson(text: string): unknown {
  const isElsewhere = text === "-" || text.startsWith("@");
  const file = text.replace(/^@/, "");
  const json = isElsewhere ? readText(file) : text;
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new InvalidArgumentError(
      `${isElsewhere ? nameOf(file) : "It"} is not JSON: ${error instanceof Error ? error.message : error}.`,
    );
  }
}

/** A parser for options that take a whole number. */
export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`Give a whole number from ${minimum} to ${maximum}.`);
  };
}

/** A parser for options that are given several times, or once with commas. */
export function each(text: string, before: readonly string[] = []): readonly string[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.includes("")) throw new InvalidArgumentError("The list has an empty part.");
  return [...before, ...parts];
}

const maxWaitSeconds = 86_400;

/** Waiting for a job: the option and its range are those of every command that waits. */
export function withWait(command: Command): Command {
  return command.option(
    "--wait <seconds>",
    "wait until the job has ended or waits for events; exits with 1 if the job failed",
    wholeNumber(0, maxWaitSeconds),
    0,
  );
}

const maxLimit = 10_000;

/** The option of every command that lists. */
export function withLimit(command: Command, usual = 50): Command {
  return command.option("--limit <number>", "the maximum number of entries to list", wholeNumber(1, maxLimit), usual);
}
