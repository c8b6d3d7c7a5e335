import { foreignAnswer, isUnreachable, noAnswer, type Problem, StepwellError, tooLate, unsendable } from "./error.ts";
import { onAbort } from "./on-abort.ts";
import type { AnyInput } from "./operation.ts";
import { backoffMs, pause } from "./pause.ts";
import { withinTime } from "./time-limit.ts";

export interface ClientOptions {
  /** The address of the service, such as `http://localhost:8080`; it may carry a path prefix. */
  readonly baseUrl: string;
  /**
   * An API token (`stw_…`), a user token (`stu_…`) or an id token. A function that returns one of these is called before each attempt, for
   * credentials that are renewed. With an empty string no token is sent.
   */
  readonly token: string | (() => string | Promise<string>);
  /** The maximum number of attempts to send a request, including the first one. Default 5. */
  readonly maxAttempts?: number;
  /**
   * How long one attempt may take before it counts as failed, in milliseconds. The `waitSeconds` for which the service is asked to hold its answer
   * are added. Default 30,000.
   */
  readonly attemptTimeoutMs?: number;
  /** Default: the `fetch` of the runtime. */
  readonly fetch?: typeof fetch;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call at once: it rejects with the signal's reason. Whether the service has carried the request out is then unknown. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the call may take as a whole, with all attempts and the pauses between them, in milliseconds. After that, it rejects with a
   * `StepwellError` whose code is `TimeoutError`. Default: only each attempt is limited.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The key by which the service recognizes a repetition, usually for 24 hours: 1 to 255 visible ASCII characters. Default: a new key for each call
   * that may make more than one attempt. If your program may repeat the call after a restart, store a key and pass it here.
   */
  readonly idempotencyKey?: string | undefined;
  /** How often this request is sent at most, including the first attempt. Default: that of the client. */
  readonly maxAttempts?: number | undefined;
}

/** The method and the path of an operation. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** True if the operation takes an Idempotency-Key. */
  readonly isKeyed?: true;
  /** If the operation is a list: the field that has the items of each page. */
  readonly items?: string;
  /** If the operation is not a list: a field that each of its answers has. */
  readonly field?: string;
}

/** An answer, whatever its status. */
export interface Reply {
  readonly response: Response;
  /** The JSON value, or undefined if the answer has none. If `open` returns a success, the body is the stream. */
  readonly body: unknown;
  readonly text: string;
}

/** What tests replace: the passing of time, and random numbers. */
export interface Chance {
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

/** Builds requests, and sends each of them again while another attempt can help and is allowed. */
export class Transport {
  readonly #baseUrl: string;
  readonly #token: ClientOptions["token"];
  readonly #maxAttempts: number;
  readonly #attemptTimeoutMs: number;
  readonly #fetch: typeof fetch;
  readonly #chance: Chance;

  constructor(options: ClientOptions, chance: Chance = { pause, random: Math.random }) {
    if (!/^https?:\/\/[^/]/.test(options.baseUrl)) {
      throw new TypeError(
        `baseUrl must begin with http:// or https:// and name a host, but it is ${JSON.stringify(options.baseUrl)}.`,
      );
    }
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#token = options.token;
    this.#maxAttempts = options.maxAttempts ?? 5;
    this.#attemptTimeoutMs = options.attemptTimeoutMs ?? 30_000;
    this.#fetch = options.fetch ?? fetch;
    this.#chance = chance;
  }

  /** Returns the answer to the last attempt, which may be an error. Rejects if it got no answer, and if the call was aborted or took too long. */
  async send(route: Route, input: AnyInput, options: CallOptions = {}): Promise<Reply> {
    return await this.#repeat(route, input, options, (signal) => ({ signal, take: read }));
  }

  /**
   * Returns as soon as the service begins to answer, so that a long text can be read while it arrives. The signal of the call also ends the reading.
   * An answer with an error is read completely.
   */
  async open(route: Route, input: AnyInput, options: CallOptions = {}): Promise<Reply> {
    return await this.#repeat(route, input, options, (signal) => {
      const lasting = new AbortController();
      onAbort(signal, () => lasting.abort(signal.reason));
      const take = async (response: Response) => {
        if (!response.ok) return await read(response);
        const opened = endedBy(options.signal, response, lasting);
        return { response: opened, body: opened.body, text: "" };
      };
      return { signal: lasting.signal, take };
    });
  }

  /**
   * Sends a request, and sends it again when another attempt can help. This is safe: the request only reads, or the service recognizes it by its key
   * or its invocation id.
   */
  async #repeat(route: Route, input: AnyInput, options: CallOptions, reading: Reading): Promise<Reply> {
    const { signal, timeoutMs, maxAttempts = this.#maxAttempts } = options;
    const request = this.#requestOf(route, input, { ...options, maxAttempts });
    let failure: unknown;
    const late = () => tooLate(timeoutMs, failure);
    return await withinTime({ signal, ms: timeoutMs, late }, async (signal) => {
      for (let attempt = 1; ; attempt += 1) {
        const isLast = attempt >= maxAttempts;
        const reply = await this.#attempt(request, `attempt=${attempt}; max=${maxAttempts}`, signal, reading).catch(
          (error: unknown) => {
            if (signal.aborted || isLast || !isUnreachable(error)) throw error;
            failure = error;
            return undefined;
          },
        );
        const askedMs = reply === undefined ? undefined : retryAfterMs(reply);
        if (reply !== undefined) {
          if (isLast || !isPassingStatus(reply.response.status) || (askedMs ?? 0) > maxRetryAfterMs) return reply;
          failure = errorOf(reply);
        }
        await this.#chance.pause(this.#pauseMs(askedMs, attempt), signal);
        signal.throwIfAborted();
      }
    });
  }

  /**
   * Returns the pause before the next attempt. If the service asks for a pause, up to a tenth is added to it, so that the rejected requests do not
   * all come back at the same moment.
   */
  #pauseMs(askedMs: number | undefined, failedAttempts: number): number {
    const { random } = this.#chance;
    return askedMs === undefined ? backoffMs(failedAttempts, random) : askedMs * (1 + random() / 10);
  }

  async #attempt(request: OutgoingRequest, number: string, signal: AbortSignal, reading: Reading): Promise<Reply> {
    const { url, method, body, waitMs, isNumbered } = request;
    const headers = new Headers(request.headers);
    const token = typeof this.#token === "string" ? this.#token : await this.#token();
    if (token !== "") headers.set("Authorization", `Bearer ${token}`);
    if (isNumbered) headers.set("amz-sdk-request", number);
    const ms = this.#attemptTimeoutMs + waitMs;
    const { origin } = new URL(url);
    const late = () => noAnswer(`The service at ${origin} gave no answer within ${ms / 1000} s.`);
    return await withinTime({ signal, ms, late }, async (timed) => {
      const { signal, take } = reading(timed);
      try {
        return await take(await this.#fetch(url, { method, headers, signal, ...(body !== undefined && { body }) }));
      } catch (error) {
        if (timed.aborted) throw timed.reason;
        throw noAnswer(`The service at ${origin} cannot be reached. Is it running, and is this its address?`, error);
      }
    });
  }

  #requestOf({ method, path, isKeyed }: Route, input: AnyInput, options: CallOptions): OutgoingRequest {
    const url = new URL(this.#baseUrl + filled(path, input.path ?? {}));
    for (const [name, value] of Object.entries(input.query ?? {})) {
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined && one !== null) url.searchParams.append(name, String(one));
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(input.header ?? {}))
      if (value !== undefined) headers.set(name, String(value));
    if (options.idempotencyKey !== undefined) headers.set(keyHeader, options.idempotencyKey);
    if (input.body !== undefined) headers.set("Content-Type", "application/json");
    // A request that is sent only once needs no key. A key would only add a row to the service's store.
    const needsKey = method !== "GET" && !headers.has(keyHeader) && (options.maxAttempts ?? 1) > 1;
    if (needsKey) headers.set(isKeyed ? keyHeader : invocationHeader, crypto.randomUUID());
    const waitSeconds = Number(url.searchParams.get("waitSeconds") ?? 0);
    return {
      url: url.href,
      method,
      headers,
      body: input.body === undefined ? undefined : JSON.stringify(input.body),
      waitMs: Number.isFinite(waitSeconds) ? waitSeconds * 1000 : 0,
      isNumbered: needsKey && !isKeyed,
    };
  }
}

interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly waitMs: number;
  /**
   * True if each attempt sends its number, by which the service knows the order of the attempts. If the answer has a secret, an early attempt that
   * arrives late must not end the secret that a later attempt got.
   */
  readonly isNumbered: boolean;
}

/** Prepares one attempt: the signal for its request, and the function that reads its answer. `timed` ends the attempt. */
type Reading = (timed: AbortSignal) => {
  readonly signal: AbortSignal;
  readonly take: (response: Response) => Promise<Reply>;
};

const keyHeader = "Idempotency-Key";
/** For operations that take no Idempotency-Key, the service recognizes a repetition by this id: docs/api.md, "Repeating a request". */
const invocationHeader = "amz-sdk-invocation-id";

/**
 * A rate limit asks for a pause of one minute at most. If an answer asks for a longer pause, as after many wrong passwords, the call makes no
 * further attempt and returns this answer.
 */
const maxRetryAfterMs = 60_000;

/**
 * Returns the body of a successful answer. Throws the error of any other answer. Also throws for a success that does not come from Stepwell, since
 * another program may answer at the address, even in JSON.
 */
export function resultOf(reply: Reply, { items, field = items }: Route): unknown {
  const { response, body, text } = reply;
  if (!response.ok) throw errorOf(reply);
  if (text === "" && field === undefined) return body;
  const { status } = response;
  if (text === "") throw foreignAnswer(status, "nothing");
  if (body === undefined) throw foreignAnswer(status, "a text that is not JSON");
  if (typeof body !== "object" || body === null || (field !== undefined && !(field in body)) || !isPage(body, items))
    throw foreignAnswer(status, "JSON that is not an answer of Stepwell");
  return body;
}

/** Tells whether the field that `items` names is a list of objects, as in every page. True without `items`: the operation is not a list. */
function isPage(body: object, items: string | undefined): boolean {
  if (items === undefined) return true;
  const list = (body as Readonly<Record<string, unknown>>)[items];
  return Array.isArray(list) && list.every((item) => typeof item === "object" && item !== null);
}

function errorOf(reply: Reply): StepwellError {
  const askedMs = retryAfterMs(reply);
  return new StepwellError(problemOf(reply), undefined, askedMs === undefined ? undefined : askedMs / 1000);
}

/** Returns the problem that an answer describes. If the answer describes none, which is usual for a proxy, makes one from the status. */
export function problemOf({ body, response: { status } }: Reply): Problem {
  if (isProblem(body)) return { ...body, status };
  const detail = `The service answered ${status} and gave no reason.`;
  return { title: "Unexpected answer", status, detail, code: "UnhandledError" };
}

function isProblem(body: unknown): body is Problem {
  if (typeof body !== "object" || body === null) return false;
  const { code, detail, errors = [] } = body as Partial<Problem>;
  return typeof code === "string" && typeof detail === "string" && Array.isArray(errors);
}

async function read(response: Response): Promise<Reply> {
  const text = await response.text();
  return { response, body: parsed(text), text };
}

/**
 * Returns the answer with a body whose reading ends when the signal is aborted. A signal can live as long as its program, so the signal must
 * forget an answer that has been read, has failed or was cancelled. The returned response has no `url`.
 */
function endedBy(signal: AbortSignal | undefined, response: Response, control: AbortController): Response {
  if (signal === undefined || response.body === null) return response;
  const forget = onAbort(signal, () => control.abort(signal.reason));
  const reader = response.body.getReader();
  reader.closed.then(forget, forget);
  const pull = async (body: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await reader.read();
    if (done) body.close();
    else body.enqueue(value);
  };
  const cancel = (reason: unknown) => reader.cancel(reason);
  return new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), response);
}

/** Returns the value of a JSON text; undefined for any other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Puts values into a path. Refuses `.`, `..` and an empty value, with which the URL would have another path: `DELETE …/workflows/..` would be sent
 * to the address of the organization.
 */
function filled(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (typeof value === "string" && !["", ".", ".."].includes(value)) return encodeURIComponent(value);
    throw unsendable(name, `must be a string that is valid in the path ${path}, but it is ${JSON.stringify(value)}`);
  });
}

function isPassingStatus(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** Returns the pause that an answer asks for; undefined if there is none. `Retry-After` is a number of seconds or a date. */
function retryAfterMs({ response: { headers } }: Reply): number | undefined {
  const text = headers.get("Retry-After");
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
