import { type Command, InvalidArgumentError } from "commander";
import { nameOf, readText } from "./input-file.ts";

/** Returns the value of an option that takes JSON: from the command line itself, from a file (`@FILE`), or from standard input (`-`). */
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

export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`Give a whole number from ${minimum} to ${maximum}.`);
  };
}

/** Parses an option that can be repeated, or given once with commas between the values. */
export function each(text: string, before: readonly string[] = []): readonly string[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.includes("")) throw new InvalidArgumentError("The list has an empty part.");
  return [...before, ...parts];
}

/**
 * Parses the name of a tag by the rule of the service. A deployment registers the version before it moves the tag. So a wrong name must be found
 * before the deployment begins.
 */
export function parseTag(text: string): string {
  if (/^\$?[A-Za-z0-9_.-]{1,64}$/.test(text) && !isPathStep(text)) return text;
  throw new InvalidArgumentError(
    "Give 1 to 64 of the characters A-Z, a-z, 0-9, _, . and -, with or without a $ before them, but not . or .. alone.",
  );
}

/** Tells whether this part of a path is `.` or `..`. A URL with such a part leads to another path. An encoded dot counts as a dot. */
export function isPathStep(part: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(part);
}

const maxWaitSeconds = 86_400;

/** Adds the option to wait for a job, with the same range in every command that has it. */
export function withWait(command: Command): Command {
  return command.option(
    "--wait <seconds>",
    "wait until the job has ended or waits for events, but at most this long; exits with 1 if the job failed or was cancelled",
    wholeNumber(0, maxWaitSeconds),
    0,
  );
}

const maxLimit = 10_000;

export function withLimit(command: Command, usual = 50): Command {
  return command.option("--limit <number>", "the maximum number of entries to list", wholeNumber(1, maxLimit), usual);
}
