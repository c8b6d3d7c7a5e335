import { expect } from "vitest";
import { type ApiDocument, documentOfBuild, readDocument } from "./api/document.ts";

export interface CallOptions {
  /** The parameters of the path. A parameter that `bind` has set may be left out. */
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string | number | boolean>;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The status that `call` expects. The test fails for any other status. Default: any status below 300. */
  readonly status?: number;
}

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly message: string;
  readonly errorType: string;
  readonly statusCode: number;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Calls operations by their name in the document. Checks that each answer is as the document describes it, except in `ask`. */
export class Client {
  readonly #baseUrl: string;
  readonly #token: string | undefined;
  readonly #bound: Record<string, string>;

  constructor(baseUrl: string, token: string | undefined, bound: Record<string, string> = {}) {
    this.#baseUrl = baseUrl;
    this.#token = token;
    this.#bound = bound;
  }

  /** Returns a client of the same caller with these path parameters filled in. */
  bind(params: Record<string, string>): Client {
    return new Client(this.#baseUrl, this.#token, { ...this.#bound, ...params });
  }

  /** Returns a client of another caller with the same path parameters. */
  as(token: string | undefined): Client {
    return new Client(this.#baseUrl, token, this.#bound);
  }

  async call<Body = Record<string, unknown>>(operationId: string, options: CallOptions = {}): Promise<Answer<Body>> {
    const answer = await this.callAny<Body>(operationId, options);
    const { status } = options;
    const succeeded = status === undefined ? answer.status < 300 : answer.status === status;
    if (!succeeded) expect.fail(`${operationId} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Makes a call that may get any answer that the document describes. */
  async callAny<Body>(operationId: string, options: CallOptions): Promise<Answer<Body>> {
    const document = await documentOfBuild();
    const { method, path } = document.operation(operationId);
    const answer = await this.#send<Body>(method, fill(path, { ...this.#bound, ...options.params }), options);
    document.check(operationId, answer);
    return answer;
  }

  /** Makes a call whose answer is not checked against the document. */
  async ask(operationId: string, options: CallOptions): Promise<Answer<string>> {
    const { method, path } = (await documentOfBuild()).operation(operationId);
    return await this.#exchange(method, fill(path, { ...this.#bound, ...options.params }), options);
  }

  /** Makes a call that must be rejected with this code. */
  async refused(operationId: string, code: string, options: CallOptions = {}): Promise<Answer<ProblemBody>> {
    const status = statusOfCode[code];
    if (status === undefined) throw new Error(`No such code: ${code}`);
    const answer = await this.call<ProblemBody>(operationId, { ...options, status });
    expect(answer.body.code).toBe(code);
    expect(answer.headers.get("x-amzn-errortype")).toBe(code);
    expect(answer.headers.get("x-request-id")).toBe(answer.body.requestId);
    expect(answer.headers.get("x-amzn-requestid")).toBe(answer.body.requestId);
    const { message, errorType, statusCode, errors = [], fields = {} } = answer.body;
    expect({ message, errorType, statusCode }).toEqual({
      message: answer.body.detail,
      errorType: code,
      statusCode: status,
    });
    expect(Object.keys(fields).sort()).toEqual([...new Set(errors.map(({ pointer }) => pointer))].sort());
    return answer;
  }

  /** Gets the document that the service serves. */
  async document(): Promise<ApiDocument> {
    return await readDocument(this.#baseUrl);
  }

  async #send<Body>(method: string, path: string, options: CallOptions): Promise<Answer<Body>> {
    const answer = await this.#exchange(method, path, options);
    const isJson = /[/+]json(;|$)/.test(answer.headers.get("content-type") ?? "");
    return { ...answer, body: (isJson ? JSON.parse(answer.body) : answer.body) as Body };
  }

  async #exchange(method: string, path: string, options: CallOptions): Promise<Answer<string>> {
    const url = new URL(this.#baseUrl + path);
    for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, String(value));
    const headers = new Headers(options.headers);
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    if (options.body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
    const body = typeof options.body === "string" ? options.body : JSON.stringify(options.body);
    const response = await fetch(url, { method, headers, ...(options.body !== undefined && { body }) });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }
}

const statusOfCode: Readonly<Record<string, number>> = {
  ValidationError: 400,
  AuthenticationError: 401,
  AuthorizationError: 403,
  NotFoundError: 404,
  ConflictError: 409,
  PreconditionFailedError: 412,
  PayloadTooLargeError: 413,
  UnsupportedMediaTypeError: 415,
  RateLimitError: 429,
  UnhandledError: 500,
  UnavailableError: 503,
};

function fill(path: string, params: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`The path ${path} needs ${name}.`);
    return encodeURIComponent(value);
  });
}
