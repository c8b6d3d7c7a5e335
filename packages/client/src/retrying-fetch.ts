import { StepwellError } from "./error.ts";
import { keyedPaths } from "./generated/keyed-paths.ts";

export interface RetryOptions {
  /** The first included. */
  readonly maxAttempts: number;
  readonly fetch: typeof fetch;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * A fetch that tries again where that is safe: reads, deletes and tag changes always, other writes only under an Idempotency-Key, which every
 * POST that takes one gets here unless it brings one. Waits as long as `Retry-After` says, else 0.2 s, 0.4 s, 0.8 s …
 */
export function retryingFetch(options: RetryOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const sent = withKey(request);
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt >= options.maxAttempts || !isSafeToRepeat(sent);
      const answer = await options.fetch(sent.clone()).catch((error: unknown) => {
        sent.signal.throwIfAborted();
        if (isLast) throw unreachable(sent, error);
        return undefined;
      });
      if (answer !== undefined && (isLast || !isPassing(answer.status))) return answer;
      await options.sleep(retryAfterMs(answer) ?? 200 * 2 ** (attempt - 1));
    }
  };
}

function withKey(request: Request): Request {
  if (request.method !== "POST" || request.headers.has("Idempotency-Key") || !takesKey(request)) return request;
  const keyed = new Request(request);
  keyed.headers.set("Idempotency-Key", crypto.randomUUID());
  return keyed;
}

/** Operations whose answer may be shown only once, and those that change nothing, refuse a key. */
function takesKey(request: Request): boolean {
  const { pathname } = new URL(request.url);
  return keyedPatterns.some((pattern) => pattern.test(pathname));
}

/** Without a beginning: the service may be below a path of its own. */
const keyedPatterns = keyedPaths.map((path) => new RegExp(`${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`));

function isSafeToRepeat(request: Request): boolean {
  return request.method !== "POST" || request.headers.has("Idempotency-Key");
}

function isPassing(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** A rate limit's minute is the longest wait that the service asks for. */
const maxWaitSeconds = 60;

function retryAfterMs(answer: Response | undefined): number | undefined {
  const seconds = Number(answer?.headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds, maxWaitSeconds) * 1000 : undefined;
}

function unreachable(request: Request, cause: unknown): StepwellError {
  const { origin } = new URL(request.url);
  const detail = `The service at ${origin} cannot be reached. Is it running, and is this its address?`;
  return new StepwellError({ title: "Unreachable", status: 0, detail, code: "UnavailableError" }, cause);
}
