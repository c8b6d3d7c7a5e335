/** The parts of an OpenAPI document that the reference shows. */
export interface ApiDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Header>>;
  };
}

/** What several operations answer stands once in the document, and operations refer to it. */
interface WrittenDocument extends Omit<ApiDocument, "paths" | "components"> {
  readonly paths: Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>;
  readonly components: ApiDocument["components"] & { readonly responses: Readonly<Record<string, Answer>> };
}

type WrittenOperation = Omit<Operation, "responses"> & {
  readonly responses: Readonly<Record<string, Answer | Reference>>;
};

interface Reference {
  readonly $ref: string;
}

export interface Answer {
  readonly description: string;
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
}

export interface Header {
  readonly description?: string;
  readonly required?: boolean;
}

/** Puts the answers in the places that refer to them. */
export function withAnswers(written: unknown): ApiDocument {
  const document = written as WrittenDocument;
  const { responses: shared } = document.components;
  const answerOf = (answer: Answer | Reference): Answer => {
    if (!("$ref" in answer)) return answer;
    const found = shared[nameOf(answer)];
    if (found === undefined) throw new Error(`The document has no ${answer.$ref}.`);
    return found;
  };
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => ({ ...operation, responses: mapValues(operation.responses, answerOf) })),
  );
  return { ...document, paths };
}

function nameOf({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}

function mapValues<From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly "x-permission": string;
  readonly "x-cost"?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
