import { readFileSync } from "node:fs";
import { CommandError } from "./exit-code.ts";

/** The text of a file that the command line names; `-` stands for standard input. */
export function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new CommandError("usage", reasons[code]?.(file) ?? `The file ${file} cannot be read (${code}).`, {
      cause: error,
    });
  }
}

const reasons: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `There is no file ${file}.`,
  ENOTDIR: (file) => `There is no file ${file}.`,
  EISDIR: (file) => `${file} is a directory. Name a file in it.`,
  EACCES: (file) => `You may not read the file ${file}.`,
};
