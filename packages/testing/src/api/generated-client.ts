import { AwsRestJsonProtocol } from "@aws-sdk/core/protocols";
import { Command, Client as RuntimeClient, ServiceException } from "@smithy/core/client";
import { getContentLengthPlugin } from "@smithy/core/protocols";
import { ConfiguredRetryStrategy, getRetryPlugin, resolveRetryConfig } from "@smithy/core/retry";
import { getSchemaSerdePlugin, TypeRegistry } from "@smithy/core/schema";
import { NodeHttpHandler, streamCollector } from "@smithy/node-http-handler";
import { errorKinds } from "../../../server/src/http/door/errors.ts";
import type { ApiDocument, Operation } from "./document.ts";

/** An error of such a client. */
export interface GeneratedError extends Error {
  readonly errorType: string;
  readonly statusCode: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId: string; readonly attempts: number };
}

/**
 * A client like those that are generated from a REST-JSON model. It uses the runtime that such clients share, which puts the requests together,
 * repeats them (three attempts, on a broken connection, 429, 500, 502, 503 and 504), and picks the error's class. The model is made from the served
 * document.
 */
export class GeneratedClient {
  readonly #client: RuntimeClient<never, never, never, never>;
  readonly #document: ApiDocument;

  constructor(baseUrl: string, token: string, document: ApiDocument, { maxAttempts = 3, headers = {} } = {}) {
    const { hostname, port, pathname } = new URL(baseUrl);
    const config = resolveRetryConfig({
      requestHandler: new NodeHttpHandler(),
      protocol: new AwsRestJsonProtocol({ defaultNamespace: namespace, errorTypeRegistries: [errors] }),
      endpoint: async () => ({ protocol: "http:", hostname, port: Number(port), path: pathname }),
      // The retries are the usual ones, but without pauses: a test has no server that needs time to recover.
      retryStrategy: new ConfiguredRetryStrategy(maxAttempts, 1),
      retryMode: "standard",
      maxAttempts,
      streamCollector,
      utf8Encoder: (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8"),
      utf8Decoder: (text: string) => Buffer.from(text, "utf8"),
      base64Encoder: (bytes: Uint8Array) => Buffer.from(bytes).toString("base64"),
      base64Decoder: (text: string) => Buffer.from(text, "base64"),
      bodyLengthChecker: (body: string) => Buffer.byteLength(body),
    });
    this.#client = new RuntimeClient(config as never);
    const { middlewareStack } = this.#client;
    for (const plugin of [getSchemaSerdePlugin, getRetryPlugin, getContentLengthPlugin]) {
      middlewareStack.use(plugin(config as never) as never);
    }
    middlewareStack.add(
      ((next: (args: never) => Promise<never>) => async (args: { request: { headers: Record<string, string> } }) => {
        const own = { authorization: `Bearer ${token}`, "x-amz-user-agent": "generated-client/1.0.0" };
        Object.assign(args.request.headers, own, headers);
        return await next(args as never);
      }) as never,
      { step: "build", name: "credentials" },
    );
    this.#document = document;
  }

  /** `input` names path parameters, query parameters and body fields side by side. */
  async send<Body = Record<string, unknown>>(operationId: string, input: object): Promise<Body> {
    const operation = this.#document.operation(operationId);
    const schema = schemaOf(operation, this.#document);
    const builder = Command.classBuilder() as unknown as CommandBuilder;
    const CommandOf = builder
      .m(() => [])
      .s("Stepwell", operationId)
      .n("StepwellClient", `${operationId}Command`)
      .sc(schema)
      .build();
    const output = (await this.#client.send(new CommandOf(input) as never)) as { readonly body: Body };
    return output.body;
  }
}

interface CommandBuilder {
  m(plugins: () => []): CommandBuilder;
  s(service: string, operation: string): CommandBuilder;
  n(client: string, command: string): CommandBuilder;
  sc(schema: unknown): CommandBuilder;
  build(): new (input: object) => object;
}

const namespace = "stepwell";
const errors = TypeRegistry.for(namespace);

/** The numbers of types in such a model. */
const types = { string: 0, integer: 1, structure: 3, operation: 9, document: 15, error: -3 } as const;

/** A class for each code, as generated from a model that lists them. */
export const errorClasses: Readonly<Record<string, new (options: never) => ServiceException>> = Object.fromEntries(
  Object.entries(errorKinds).map(([code, { status }]) => {
    const fault = status < 500 ? "client" : "server";
    const ErrorClass = class extends ServiceException {
      constructor(options: object) {
        super({ name: code, $fault: fault, ...options } as never);
      }
    };
    const members = ["message", "errorType", "statusCode", "fields"];
    const memberTypes = [types.string, types.string, types.integer, types.document];
    const schema = [types.error, namespace, code, { error: fault, httpError: status }, members, memberTypes];
    errors.registerError(schema as never, ErrorClass as never);
    return [code, ErrorClass];
  }),
);

function schemaOf({ operationId, method, path, declaration }: Operation, document: ApiDocument) {
  const members = new Map<string, unknown>();
  for (const parameter of declaration.parameters ?? []) {
    if (parameter.in === "path") members.set(parameter.name, [types.string, { httpLabel: 1 }]);
    if (parameter.in === "query") members.set(parameter.name, [types.document, { httpQuery: parameter.name }]);
  }
  for (const field of bodyFields(declaration.requestBody, document)) {
    if (members.has(field)) throw new Error(`${operationId} has ${field} twice.`);
    members.set(field, types.document);
  }
  const names = [...members.keys()];
  const input = [types.structure, namespace, `${operationId}Request`, 0, names, [...members.values()]];
  const payload = [[types.document, { httpPayload: 1 }]];
  const output = [types.structure, namespace, `${operationId}Response`, 0, ["body"], payload];
  const http = { http: [method, path, 200] };
  return [types.operation, namespace, operationId, http, () => input, () => output];
}

function bodyFields(body: unknown, { raw }: ApiDocument): string[] {
  type Schema = { readonly $ref?: string; readonly properties?: object };
  const content = (body as { content?: Record<string, { schema: Schema }> } | undefined)?.content;
  const schema = content?.["application/json"]?.schema;
  const component = /^#\/components\/schemas\/(.+)$/.exec(schema?.$ref ?? "")?.[1];
  const { components } = raw as unknown as { components: { schemas: Record<string, Schema> } };
  const resolved = component === undefined ? schema : components.schemas[component];
  return Object.keys(resolved?.properties ?? {});
}
