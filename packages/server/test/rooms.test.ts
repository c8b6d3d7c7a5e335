import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const source = resolve(import.meta.dirname, "../src");

/** The imports that each room may make from others, as `docs/internals/architecture.md` lists them; a room may always import from itself. */
const mayImport = readTable(
  readFileSync(resolve(import.meta.dirname, "../../../docs/internals/architecture.md"), "utf8"),
);

const imports = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) =>
    [
      ...readFileSync(join(source, file), "utf8").matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from "(\.[^"]+)";/gms),
      ...readFileSync(join(source, file), "utf8").matchAll(/\bimport\((type)?"(\.[^"]+)"\)/g),
    ].map(([, isType, path = ""]) => {
      const target = relative(source, resolve(source, dirname(file), path));
      return { file, target, room: roomOf(file), from: roomOf(target), isType: isType !== undefined };
    }),
  );

test("the table of rooms contains every room", () => {
  expect([...mayImport.keys()].sort()).toEqual(readdirSync(source).sort());
});

test("every room imports only what the table of rooms allows", () => {
  const wrong = imports.filter(({ room, from }) => room !== from && !mayImport.get(room)?.includes(from));
  expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
});

test("the store imports only types from core", () => {
  const taken = imports.filter(({ room, from, isType }) => room === "store" && from === "core" && !isType);
  expect(taken.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
});

/** Names that `http` takes from `store` although they are not functions that read, each with the reason. */
const takenBesideReads: Readonly<Record<string, string>> = {
  DiskFullError: "an error that is answered with 503",
  ReadDeadlineError: "an error that is answered with 503",
  RowHeldError: "an error that is answered with 503",
  StatementGivenUpError: "an error that is answered with 503",
  StoreUnavailableError: "an error that is answered with 503",
  TransactionAbortedError: "an error that is answered with 503",
};

test("http takes only reading functions and types from the store", () => {
  const wrong = filesOf("http")
    .flatMap((file) => valuesFromStore(file).map((name) => ({ file, name })))
    .filter(({ name }) => !/^(find|list|count|measure|has|read)[A-Z]/.test(name) && !(name in takenBesideReads));
  expect(wrong).toEqual([]);
});

test("every exception to what http may take from the store is used", () => {
  const taken = new Set(filesOf("http").flatMap(valuesFromStore));
  expect(Object.keys(takenBesideReads).filter((name) => !taken.has(name))).toEqual([]);
});

test("no file of http begins a transaction", () => {
  expect(filesOf("http").filter((file) => /\.transaction\(/.test(readFileSync(join(source, file), "utf8")))).toEqual(
    [],
  );
});

/** Packages that only compute: the interpreter of patterns, the parser of expressions, and the package that makes UUIDs from a seed. */
const purePackages: ReadonlySet<string | undefined> = new Set(["re2js", "@marcbachmann/cel-js", "uuid"]);

test("core imports only packages without effects, and reads neither a clock nor a random source", () => {
  for (const file of readdirSync(join(source, "core"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(join(source, "core", file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    const packages = [...text.matchAll(/from "([^."][^"]*)";/g)].map(([, name]) => name);
    expect({ file, packages: packages.filter((name) => !purePackages.has(name)) }).toEqual({ file, packages: [] });
    expect({
      file,
      impure: /\b(Date\.now|new Date\(\)|Math\.random|performance\.|setTimeout|await |async )/.test(text),
    }).toEqual({
      file,
      impure: false,
    });
  }
});

test("only config.ts reads the environment, and only the store contains SQL", () => {
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

test.each(["server", "client", "cli", "dashboard"])(
  "no file of the package %s imports itself through others",
  (name) => {
    expect(circlesIn(importsIn(resolve(import.meta.dirname, "../..", name, "src")))).toEqual([]);
  },
);

test.each(["server", "client", "cli", "dashboard", "testing"])(
  "no folder of the package %s imports itself through its neighbours",
  (name) => {
    const imported = importsIn(resolve(import.meta.dirname, "../..", name, "src"));
    const folders = new Set([...imported.keys()].flatMap(foldersAround));
    expect([...folders].flatMap((folder) => circlesIn(betweenParts(folder, imported)))).toEqual([]);
  },
);

test("nothing reaches into the tests of another package by a path", () => {
  const root = resolve(import.meta.dirname, "../../..");
  const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name));
  const readers = [...packages.flatMap((name) => [join(name, "src"), join(name, "test")]), "bench", "chaos", "scripts"];
  const wrong = readers
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      [...importsIn(join(root, folder))].flatMap(([file, targets]) =>
        targets
          .map((target) => relative(root, resolve(root, folder, target)))
          .filter((target) => /^packages\/[^/]+\/test\//.test(target) && !target.startsWith(`${folder}/`))
          .map((target) => `${join(folder, file)} → ${target}`),
      ),
    );
  expect(wrong).toEqual([]);
});

test("no source file is too long", () => {
  const large = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes("generated"))
    .map((file) => ({ file, lines: readFileSync(join(source, file), "utf8").split("\n").length }))
    .filter(({ lines }) => lines > 450);
  expect(large).toEqual([]);
});

function filesOf(room: string): string[] {
  return readdirSync(join(source, room), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(room, file));
}

/** The names that a file imports from the store, without types. */
function valuesFromStore(file: string): string[] {
  const text = readFileSync(join(source, file), "utf8");
  return [...text.matchAll(/^(?:import|export)\s+(type\s)?([^;]*?)\s+from "((?:\.\.\/)+)store\/[^"]+";/gms)]
    .filter(([, isType]) => isType === undefined)
    .flatMap(([, , clause = ""]) => clause.replace(/[{}]/g, "").split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(" as ")[0] ?? name);
}

/** Returns the files of a folder, each with the files that it imports. Imports of types count, since a reader has to know them as well. */
function importsIn(folder: string): Imports {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      const paths = [...text.matchAll(/^(?:import|export)\s[^;]*?from "(\.[^"]+)";/gms)].map(([, path = ""]) => path);
      return [file, paths.map((path) => relative(folder, resolve(folder, dirname(file), path)))] as const;
    }),
  );
}

/** Files or folders, each with those that it imports. */
type Imports = ReadonlyMap<string, readonly string[]>;

/** Returns the imports between the parts of one folder. A part is a file of the folder, or a folder in it as a whole. */
function betweenParts(folder: string, imported: Imports): Imports {
  const between = new Map<string, string[]>();
  for (const [file, targets] of imported) {
    const part = partOf(folder, file);
    if (part === undefined) continue;
    const others = targets.flatMap((target) => partOf(folder, target) ?? []).filter((other) => other !== part);
    between.set(part, [...(between.get(part) ?? []), ...others]);
  }
  return between;
}

/** Returns the part of the folder to which a file belongs; undefined for a file elsewhere. */
function partOf(folder: string, file: string): string | undefined {
  const [part] = relative(folder, file).split("/");
  return part === undefined || part === ".." ? undefined : join(folder, part);
}

/** Returns the folders that contain a file, including the outermost one. */
function foldersAround(file: string): readonly string[] {
  const folder = dirname(file);
  return folder === "." ? [folder] : [folder, ...foldersAround(folder)];
}

/** Returns the parts that import themselves by way of others. A reader would have to read such parts together. */
function circlesIn(imported: Imports): string[] {
  const reaches = (part: string): boolean => {
    const seen = new Set<string>();
    const next = [...(imported.get(part) ?? [])];
    for (let found = next.pop(); found !== undefined; found = next.pop()) {
      if (found === part) return true;
      if (seen.has(found)) continue;
      seen.add(found);
      next.push(...(imported.get(found) ?? []));
    }
    return false;
  };
  return [...imported.keys()].filter(reaches);
}

/** Returns the names in backquotes in each row: first the room, then the rooms that it may import. */
function readTable(document: string): Map<string, readonly string[]> {
  const rows = document.split("| room | may import |")[1]?.split("\n\n")[0]?.split("\n").slice(2) ?? [];
  return new Map(
    rows.map((row) => {
      const [room = "", ...allowed] = [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "");
      return [room, allowed];
    }),
  );
}

function roomOf(file: string): string {
  return file.split("/")[0] ?? file;
}
