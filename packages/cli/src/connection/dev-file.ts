import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The file that `stepwell dev` leaves in its data directory, for later commands and scripts. */
export interface DevFile {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly token: string;
  /** The e-mail address to sign in with. */
  readonly email: string;
  readonly password: string;
  readonly workflowId: string;
  readonly jobId: string;
}

export function readDevFile(dataDir: string): Partial<DevFile> | undefined {
  try {
    const content = (JSON.parse(readFileSync(devFilePath(dataDir), "utf8")) ?? {}) as Partial<DevFile>;
    for (const name of ["baseUrl", "organizationId", "token"] as const)
      if (!["string", "undefined"].includes(typeof content[name])) throw new Error(`${name} is not a text`);
    return content;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(
      `${devFilePath(dataDir)} cannot be read: ${error instanceof Error ? error.message : error}. Delete the file; \`stepwell dev\` then writes a new one.`,
    );
  }
}

/**
 * Writes the file into a directory that exists. It is written completely or not at all. Only its owner can read it, since it holds a token and a
 * password.
 */
export function writeDevFile(dataDir: string, content: DevFile): void {
  const unfinished = `${devFilePath(dataDir)}.unfinished`;
  writeFileSync(unfinished, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, flush: true });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, devFilePath(dataDir));
}

export function devFilePath(dataDir: string): string {
  return join(dataDir, "dev.json");
}
