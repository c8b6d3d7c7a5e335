import type { Problem } from "./error.ts";
import { operationTable } from "./generated/operations.ts";
import type { Answer, AnyInput, Input, OperationName, StreamName } from "./operation.ts";
import { problemOf, type Route, type Transport } from "./transport.ts";

/** Every operation by its method and path, as `client.api.GET("/organizations/{organizationId}", { params: { path } })`. */
export type ByPath = {
  readonly [Verb in Method]: <Path extends PathOf<Verb>>(
    path: Path,
    ...init: InitOf<NameAt<Verb, Path>>
  ) => Promise<Outcome<NameAt<Verb, Path>>>;
};

/** The answer of an operation, or the error in the service's answer. An error is thrown when there is no answer or the request cannot be sent. */
export type Outcome<Name extends OperationName> =
  | { readonly data: Data<Name>; readonly error?: never; readonly response: Response }
  | { readonly data?: never; readonly error: Problem; readonly response: Response };

export function byPath(transport: Transport): ByPath {
  const verb =
    (method: string) =>
    async (path: string, init: AnyInit = {}) => {
      const { params, headers, body, parseAs, signal } = init;
      const route = routes.get(`${method} ${path}`) ?? { method, path };
      const input = { ...params, header: { ...headers, ...params?.header }, body };
      const reply = await (parseAs === "stream"
        ? transport.open(route, input, { signal })
        : transport.send(route, input, { signal }));
      const { response } = reply;
      return response.ok ? { data: reply.body, response } : { error: problemOf(reply), response };
    };
  return Object.fromEntries(methods.map((method) => [method, verb(method)])) as unknown as ByPath;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof methods)[number];

const routes = new Map<string, Route>(
  Object.values(operationTable).map((route) => [`${route.method} ${route.path}`, route]),
);

interface AnyInit {
  readonly params?: Omit<AnyInput, "body">;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly parseAs?: "stream";
  readonly signal?: AbortSignal;
}

type Data<Name extends OperationName> = Name extends StreamName ? ReadableStream<Uint8Array> | null : Answer<Name>;

type Table = typeof operationTable;

/** The names of operations by their method and path. */
type Names = { readonly [Name in OperationName as `${Table[Name]["method"]} ${Table[Name]["path"]}`]: Name };

type PathOf<Verb extends Method> = keyof Names extends infer Key
  ? Key extends `${Verb} ${infer Path}`
    ? Path
    : never
  : never;

type NameAt<Verb extends Method, Path extends string> = Names[`${Verb} ${Path}` & keyof Names];

type InitOf<Name extends OperationName> =
  Record<never, never> extends Init<Name> ? [init?: Init<Name>] : [init: Init<Name>];

type Init<Name extends OperationName> = Pick<Input<Name>, "body"> &
  ParamsOf<Omit<Input<Name>, "body">> &
  Pick<AnyInit, "headers" | "signal"> &
  (Name extends StreamName ? { readonly parseAs: "stream" } : unknown);

type ParamsOf<Params> =
  Record<never, never> extends Params ? { readonly params?: Params } : { readonly params: Params };
