import { closeSync, openSync, readSync } from "node:fs";
import { CommandError } from "./exit-code.ts";

/** Returns the text of a file that the command line names; `-` stands for standard input. Throws a `CommandError` when reading fails. */
export function readText(file: string): string {
  try {
    return decoded(file === "-" ? readAll(standardInput, file) : readFile(file));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (error instanceof TypeError) throw new CommandError("usage", `${nameOf(file)} is not encoded in UTF-8.`);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new CommandError("usage", reasons[code]?.(file) ?? `The file ${file} cannot be read (${code}).`, {
      cause: error,
    });
  }
}

/** The name of the file for the beginning of a sentence. */
export function nameOf(file: string): string {
  return file === "-" ? "Standard input" : `The file ${file}`;
}

/** Decodes the bytes and keeps a byte order mark. Throws a TypeError for bytes that are not UTF-8: replacing them would change the text. */
function decoded(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

function readFile(file: string): Uint8Array {
  const descriptor = openSync(file, "r");
  try {
    return readAll(descriptor, file);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads a file to its end. The bytes are counted, because the size of a pipe or a device is not known in advance. A program that shares standard
 * input may have made it non-blocking. A read then fails with EAGAIN while no data has arrived.
 */
function readAll(descriptor: number, file: string): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let bytes = 0; bytes <= maxBytes; ) {
    const part = Buffer.alloc(65_536);
    try {
      const length = readSync(descriptor, part);
      if (length === 0) return Buffer.concat(parts);
      bytes += length;
      parts.push(part.subarray(0, length));
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      // On Windows, this error means that the pipe has ended.
      if (error.code === "EOF") return Buffer.concat(parts);
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, askAgainMs);
    }
  }
  throw new CommandError("usage", `${nameOf(file)} is longer than 256 MiB, which no service accepts.`);
}

const standardInput = 0;
const maxBytes = 256 * 1024 * 1024;
const askAgainMs = 20;

const reasons: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `There is no file ${file}.`,
  ENOTDIR: (file) => `There is no file ${file}.`,
  EISDIR: (file) => `${file} is a directory. Name a file in it.`,
  EACCES: (file) => `You may not read the file ${file}.`,
};
