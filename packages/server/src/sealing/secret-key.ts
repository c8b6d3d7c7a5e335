import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { inDataDirectory } from "../store/home/data-directory.ts";
import { SecretBox } from "./secret-box.ts";

/**
 * Returns the box that seals with the present secret key. It also opens values that were sealed with one of the other keys: an earlier key, or the
 * next one, with which other nodes may seal already. Throws as `secretKeyOf` does.
 */
export function secretBoxOf(config: SecretKeyConfig & Pick<Config, "otherSecretKeys">): SecretBox {
  const others = config.otherSecretKeys.map((key) => parse(key, "Each key of STEPWELL_OTHER_SECRET_KEYS"));
  return new SecretBox(secretKeyOf(config), others);
}

type SecretKeyConfig = Pick<Config, "secretKey" | "databaseUrl" | "dataDir">;

/**
 * Returns the service's secret key: from the configuration, or with the embedded store from a file beside the store, which is made at the first
 * start. Throws an error that says what to do when there is no key, or a weak one.
 */
export function secretKeyOf(config: SecretKeyConfig): Buffer {
  if (config.secretKey !== undefined) return parse(config.secretKey, "STEPWELL_SECRET_KEY");
  if (config.databaseUrl !== undefined) {
    throw new Error(`STEPWELL_SECRET_KEY is missing: with DATABASE_URL every node needs the same one. ${howToMake}`);
  }
  return keyInFile(config.dataDir);
}

const minBytes = 32;
const howToMake = "Make a key with `openssl rand -base64 32`, and keep it as safe as the database's password.";

function parse(text: string, where: string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length < minBytes || !/^[A-Za-z0-9+/]+={0,2}$/.test(text.trim())) {
    throw new Error(`${where} must be at least ${minBytes} random bytes in base64. ${howToMake}`);
  }
  // If most bytes are repetitions of a few, they were not drawn at random: they are a word, a pattern or a row of zeros.
  if (new Set(key).size < minBytes / 2) {
    throw new Error(`${where} is not random: it repeats the same few bytes. ${howToMake}`);
  }
  return key;
}

/**
 * Returns the key in the file of the data directory, and creates the file if it is missing. With the flag `wx`, the write fails if the file exists
 * already, from an earlier start or because another process has just created it. Then the key in that file is used.
 */
function keyInFile(dataDir: string): Buffer {
  const file = join(dataDir, "secret.key");
  const text = inDataDirectory(dataDir, () => {
    try {
      writeFileSync(file, `${randomBytes(minBytes).toString("base64")}\n`, { flag: "wx", mode: 0o600, flush: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    return readFileSync(file, "utf8");
  });
  return parse(text, file);
}
