import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const source = resolve(import.meta.dirname, "../src");

/** What each room of `docs/architecture.md` may import from the others; a room may always import from itself. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  store: ["core"],
  engine: ["core", "store", "config.ts"],
  auth: ["core", "store", "config.ts"],
  http: ["core", "store", "engine", "auth", "config.ts"],
  "config.ts": [],
  "initial-owner.ts": ["auth", "engine", "store"],
  "held-accounts.ts": ["auth", "engine", "store"],
  "service.ts": ["auth", "config.ts", "core", "engine", "http", "store"],
  "stored-audit.ts": ["auth", "config.ts", "core", "engine", "service.ts", "store"],
  "index.ts": [
    "auth",
    "config.ts",
    "core",
    "held-accounts.ts",
    "initial-owner.ts",
    "service.ts",
    "store",
    "stored-audit.ts",
  ],
};

const imports = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) =>
    [
      ...readFileSync(join(source, file), "utf8").matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from "(\.[^"]+)";/gms),
    ].map(([, isType, path = ""]) => {
      const target = relative(source, resolve(source, dirname(file), path));
      return { file, target, room: roomOf(file), from: roomOf(target), isType: isType !== undefined };
    }),
  );

test("every room imports only what the table of rooms allows", () => {
  const wrong = imports.filter(({ room, from }) => room !== from && !mayImport[room]?.includes(from));
  expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
});

test("the store takes nothing from core but types", () => {
  const taken = imports.filter(({ room, from, isType }) => room === "store" && from === "core" && !isType);
  expect(taken.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
});

test("core imports no package but the interpreters of patterns, and reads neither clock nor chance", () => {
  for (const file of readdirSync(join(source, "core"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(join(source, "core", file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    const packages = [...text.matchAll(/from "([^."][^"]*)";/g)].map(([, name]) => name);
    expect({ file, packages: packages.filter((name) => name !== "re2js") }).toEqual({ file, packages: [] });
    expect({
      file,
      impure: /\b(Date\.now|new Date\(\)|Math\.random|performance\.|setTimeout|await |async )/.test(text),
    }).toEqual({
      file,
      impure: false,
    });
  }
});

test("only config.ts reads the environment, and only the store says SQL", () => {
  const readers: string[] = [];
  const speakers: string[] = [];
  for (const file of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(join(source, file), "utf8");
    if (text.includes("process.env")) readers.push(file);
    if (/\b(SELECT .* FROM|INSERT INTO|DELETE FROM|UPDATE \w+\s+SET)\b/s.test(text)) speakers.push(file);
  }
  expect(readers).toEqual([]);
  expect(speakers.filter((file) => roomOf(file) !== "store")).toEqual([]);
});

test("files are small enough to be one idea", () => {
  const large = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes("generated"))
    .map((file) => ({ file, lines: readFileSync(join(source, file), "utf8").split("\n").length }))
    .filter(({ lines }) => lines > 450);
  expect(large).toEqual([]);
});

function roomOf(file: string): string {
  return file.split("/")[0] ?? file;
}
