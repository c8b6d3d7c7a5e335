/** Writes the client's types and its table of operations from the API document. With `--check` it only reports whether they are up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readConfig } from "../packages/server/src/config.ts";
import { apiDocument } from "../packages/server/src/http/api-document.ts";

const directory = "packages/client/src/generated";
const document = JSON.stringify(await apiDocument(readConfig({})));
write("api.ts", await typesOf(document));
write("operations.ts", operationTableOf(JSON.parse(document)));

function write(name: string, text: string): void {
  const file = join(directory, name);
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    process.stderr.write(`${file} is out of date: run npm run generate\n`);
    process.exitCode = 1;
  }
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>;
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Writes the table of what the client must know about each operation at run time. */
function operationTableOf({ paths, components }: ApiDocument): string {
  const lines = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const isKeyed = operation.parameters?.some(({ name }) => name === "Idempotency-Key") === true;
      const items = itemsFieldOf(operation, components.schemas);
      const field = items === undefined ? fieldOf(operation, components.schemas) : undefined;
      const route = {
        method: method.toUpperCase(),
        path,
        ...(isKeyed && { isKeyed }),
        ...(items !== undefined && { items }),
        ...(field !== undefined && { field }),
      };
      return `  ${operation.operationId}: ${JSON.stringify(route)},\n`;
    }),
  );
  return `/** Generated from the API document. For each operation: its method and path, whether it takes an Idempotency-Key, and the field with the items of a list, or else a field that every successful answer has. */
export const operationTable = {
${lines.join("")}} as const;
`;
}

/** Returns the name of the array in an answer that also has `nextPageToken`; undefined for other answers. */
function itemsFieldOf(
  { operationId, responses }: Operation,
  schemas: ApiDocument["components"]["schemas"],
): string | undefined {
  const schema = responses["200"]?.content?.["application/json"]?.schema;
  const { properties = {} } = schemas[schema?.$ref?.split("/").at(-1) ?? ""] ?? schema ?? {};
  if (!("nextPageToken" in properties)) return undefined;
  const [items, ...others] = Object.keys(properties).filter((name) => properties[name]?.type === "array");
  if (items === undefined || others.length > 0) throw new Error(`The pages of ${operationId} need one array of items.`);
  return items;
}

/** Returns the first field that every successful answer must have. Undefined if there is none, for example because an answer has no body. */
function fieldOf({ responses }: Operation, schemas: ApiDocument["components"]["schemas"]): string | undefined {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const [first = [], ...others] = successes.map(([, { content }]) =>
    requiredIn(content?.["application/json"]?.schema, schemas),
  );
  return first.find((name) => others.every((names) => names.includes(name)));
}

function requiredIn(schema: Schema | undefined, schemas: ApiDocument["components"]["schemas"]): readonly string[] {
  const { required = [], anyOf } = schemas[schema?.$ref?.split("/").at(-1) ?? ""] ?? schema ?? {};
  if (anyOf === undefined) return required;
  const [first = [], ...others] = anyOf.map((one) => requiredIn(one, schemas));
  return first.filter((name) => others.every((names) => names.includes(name)));
}

/** The generator needs another version of TypeScript than the rest of the repository. The client package depends on the generator and on that version. */
async function typesOf(document: string): Promise<string> {
  const clientRequire = createRequire(pathToFileURL(resolve("packages/client/package.json")));
  const generator = clientRequire("openapi-typescript");
  return generator.COMMENT_HEADER + generator.astToString(await generator.default(document));
}
