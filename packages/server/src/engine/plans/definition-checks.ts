import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Config } from "../../config.ts";
import { ServiceError } from "../../core/service-error.ts";
import { FairQueue } from "../../store/home/fair-queue.ts";
import type { DefinitionFindings, DefinitionToCheck } from "./definition-check.ts";

export interface DefinitionCheckOptions {
  readonly config: Config;
  readonly onFailure: (error: unknown) => void;
  readonly deadlineMs?: number;
  readonly maxMemoryMb?: number;
}

/**
 * Checks new definitions in a separate thread, because the most expensive checks take a quarter of a second of computing
 * (`npm run bench -- definitions`). The checks run one by one, and organizations take turns.
 *
 * Only deterministic bounds decide whether a definition is rejected, so all nodes decide alike. The deadline is for cases that these bounds miss.
 * When it passes, nothing is decided, the thread is ended, and the caller gets 503. The next check begins with a new thread.
 */
export class DefinitionChecks {
  readonly #options: DefinitionCheckOptions;
  readonly #deadlineMs: number;
  readonly #queue = new FairQueue<Check>({ maxRunning: 1, maxRunningPerOwner: 1 });
  readonly #waitingByOrganization = new Map<string, number>();
  #worker: Worker | undefined;
  #running: Check | undefined;
  #isClosed = false;

  constructor(options: DefinitionCheckOptions) {
    this.#options = options;
    this.#deadlineMs = options.deadlineMs ?? usualDeadlineMs;
  }

  /** Throws `ServiceError` (RateLimitError, UnavailableError) when the definition was not checked. */
  async check(organizationId: string, toCheck: DefinitionToCheck): Promise<DefinitionFindings> {
    if (this.#isClosed) throw leaving();
    const waiting = this.#waitingByOrganization.get(organizationId) ?? 0;
    if (waiting >= maxPerOrganization) throw tooManyOfOne();
    if (this.#queue.waitingCount >= maxWaiting) throw tooMany();
    this.#waitingByOrganization.set(organizationId, waiting + 1);
    try {
      return await new Promise<DefinitionFindings>((resolve, reject) => {
        this.#queue.add(organizationId, { organizationId, toCheck, resolve, reject });
        this.#next();
      });
    } finally {
      const left = (this.#waitingByOrganization.get(organizationId) ?? 1) - 1;
      if (left > 0) this.#waitingByOrganization.set(organizationId, left);
      else this.#waitingByOrganization.delete(organizationId);
    }
  }

  /** Ends the thread. Callers that wait get 503. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#end((check) => check.reject(leaving()));
    await worker?.terminate();
  }

  #next(): void {
    const check = this.#queue.next();
    if (check === undefined) return;
    if (this.#isClosed) {
      this.#running = check;
      this.#end(({ reject }) => reject(leaving()));
      return;
    }
    const timer = setTimeout(() => this.#giveUp(tooLong()), this.#deadlineMs);
    this.#running = { ...check, timer };
    try {
      this.#worker ??= this.#startWorker();
      this.#worker.postMessage(check.toCheck);
    } catch (error) {
      // The system may be unable to start another thread.
      this.#options.onFailure(error);
      this.#giveUp(broken(error));
    }
  }

  #startWorker(): Worker {
    const { config, onFailure, maxMemoryMb = usualMemoryMb } = this.#options;
    // The check needs no file and no connection, so the thread gets no secret and no environment.
    const { databaseUrl: _, secretKey: __, otherSecretKeys: ___, ...settings } = config;
    const worker = new Worker(new URL(`./definition-check-worker${extname(import.meta.url)}`, import.meta.url), {
      workerData: toWorkerData(settings),
      resourceLimits: { ...resourceLimits, maxOldGenerationSizeMb: maxMemoryMb },
      env: {},
      execArgv: [],
    });
    // A service with nothing else to do must be able to end although the thread exists.
    worker.unref();
    worker.on("message", (findings: DefinitionFindings) => {
      // A thread that was given up may still send its answer, which is ignored.
      if (worker === this.#worker) this.#end(({ resolve }) => resolve(findings));
    });
    const died = (error: unknown) => {
      if (worker !== this.#worker) return;
      onFailure(error);
      this.#giveUp(broken(error));
    };
    worker.on("error", died);
    worker.on("exit", (code) => died(new Error(`The thread that checks definitions ended with code ${code}.`)));
    return worker;
  }

  /** Rejects the running check with this error, and ends the thread at once, because its result is not needed any more. */
  #giveUp(error: ServiceError): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#end(({ reject }) => reject(error));
  }

  #end(answer: (check: Check) => void): void {
    const check = this.#running;
    if (check === undefined) return;
    this.#running = undefined;
    clearTimeout(check.timer);
    this.#queue.done(check.organizationId);
    answer(check);
    this.#next();
  }
}

interface Check {
  readonly organizationId: string;
  readonly toCheck: DefinitionToCheck;
  readonly resolve: (findings: DefinitionFindings) => void;
  readonly reject: (error: ServiceError) => void;
  readonly timer?: NodeJS.Timeout;
}

/** The default deadline. The most expensive definitions and a new thread take about 0.3 s each, so this leaves time on a busy machine. */
const usualDeadlineMs = 10_000;
/**
 * The bound on the checks of one organization that wait or run. Each of them holds a definition in memory. A low bound is enough, because people and
 * deployments register one definition after the other.
 */
const maxPerOrganization = 10;
const maxWaiting = 100;
/** The default memory limit, about five times what the largest definitions take. */
const usualMemoryMb = 256;
/** The stack is at most as large as that of the thread on which jobs run, so a definition that passes here also passes there. */
const resourceLimits = { maxYoungGenerationSizeMb: 32, stackSizeMb: 1 };

/** Converts the settings to plain data, because a `URL` cannot be passed to a thread. */
function toWorkerData(settings: object): { readonly settings: object; readonly urls: object } {
  const entries = Object.entries(settings);
  return {
    settings: Object.fromEntries(entries.filter(([, value]) => !(value instanceof URL))),
    urls: Object.fromEntries(entries.flatMap(([name, value]) => (value instanceof URL ? [[name, value.href]] : []))),
  };
}

function tooManyOfOne(): ServiceError {
  const message = `${maxPerOrganization} definitions of the organization are being checked already. Retry in a few seconds.`;
  return new ServiceError("RateLimitError", message, { retryAfterSeconds: 2 });
}

function tooMany(): ServiceError {
  return unavailable("Too many definitions wait for their check. Nothing was changed; retry in a few seconds.");
}

function tooLong(): ServiceError {
  return unavailable("The definition could not be checked in time. Nothing was changed; retry, or send a smaller one.");
}

function broken(cause: unknown): ServiceError {
  return unavailable("The check of the definition was interrupted. Nothing was changed; retry.", cause);
}

function leaving(): ServiceError {
  return unavailable("The service is stopping. Nothing was changed; retry.");
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("UnavailableError", message, { retryAfterSeconds: 2, cause });
}
