import createFetchClient, { type Client } from "openapi-fetch";
import { type Problem, StepwellError } from "./error.ts";
import type { operations, paths } from "./generated/api.ts";
import { retryingFetch } from "./retrying-fetch.ts";

export interface ClientOptions {
  /** For example `http://localhost:8080`; may carry a path prefix. */
  readonly baseUrl: string;
  readonly token: string;
  /** Default 5, the first included. */
  readonly maxAttempts?: number;
  readonly fetch?: typeof fetch;
}

type Body<Operation extends keyof operations> = operations[Operation] extends {
  requestBody: { content: { "application/json": infer Content } };
}
  ? Content
  : never;

type Answer<Operation extends keyof operations, Status extends number> = operations[Operation] extends {
  responses: { [Key in Status]: { content: { "application/json": infer Content } } };
}
  ? Content
  : never;

export type Job = Answer<"GetJob", 200>;
type Definition = string | object;

export interface SubmitOptions {
  readonly idempotencyKey?: string;
  readonly waitSeconds?: number;
}

export function createClient(options: ClientOptions): StepwellClient {
  return new StepwellClient(options);
}

/** Every operation, typed, as `api`; and the few that programs use most, with retries, waiting and errors as exceptions. */
export class StepwellClient {
  readonly api: Client<paths>;

  constructor(options: ClientOptions) {
    this.api = createFetchClient<paths>({
      baseUrl: options.baseUrl.replace(/\/$/, ""),
      headers: { Authorization: `Bearer ${options.token}` },
      fetch: retryingFetch({
        maxAttempts: options.maxAttempts ?? 5,
        fetch: options.fetch ?? fetch,
        sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      }),
    });
  }

  /** Whom the service takes the token's bearer for. */
  async whoAmI() {
    return resultOf(await this.api.GET("/whoami", {}));
  }

  /** One page of those that the caller is a member of. */
  async listOrganizations(pageSize = 100) {
    return resultOf(await this.api.GET("/organizations", { params: { query: { pageSize } } }));
  }

  /** The workflow of this name; undefined when there is none. */
  async findWorkflow(organizationId: string, name: string) {
    const answer = await this.api.GET("/organizations/{organizationId}/workflows", {
      params: { path: { organizationId }, query: { name } },
    });
    return resultOf(answer).workflows[0];
  }

  /**
   * Registers the definition as a new version of the workflow that it names, unless the newest version has an equal one, and moves the tag
   * there, unless it points there already. Makes the workflow if there is none.
   */
  async deploy(organizationId: string, definition: Definition, tag = "$LIVE") {
    const text = typeof definition === "string" ? definition : JSON.stringify(definition);
    const workflowId = await this.#workflowIdFor(organizationId, nameIn(text));
    const version = resultOf(
      await this.api.POST("/organizations/{organizationId}/workflows/{workflowId}/versions", {
        params: { path: { organizationId, workflowId }, query: { ifChanged: true } },
        body: { definition: text },
      }),
    );
    const path = { organizationId, workflowId, tag };
    const { versionId } = version;
    // No tag points at a version that was just made, so there is no need to ask.
    const isTagMoved = version.created || (await this.#taggedVersionId(path)) !== versionId;
    if (isTagMoved) {
      await this.api
        .PUT("/organizations/{organizationId}/workflows/{workflowId}/tags/{tag}", {
          params: { path },
          body: { versionId },
        })
        .then(resultOf);
    }
    return { ...version, tag, isTagMoved };
  }

  /** With `waitSeconds` the answer comes when the job has ended or waits for events, and is the whole job; without it the status is always PENDING. */
  async submitJob(organizationId: string, body: Body<"SubmitJob">, options: SubmitOptions = {}) {
    const query = options.waitSeconds === undefined ? {} : { waitSeconds: options.waitSeconds };
    const header = options.idempotencyKey === undefined ? {} : { "Idempotency-Key": options.idempotencyKey };
    return resultOf(
      await this.api.POST("/organizations/{organizationId}/jobs", {
        params: { path: { organizationId }, header, query },
        body,
      }),
    );
  }

  async getJob(organizationId: string, jobId: string, waitSeconds?: number, signal?: AbortSignal): Promise<Job> {
    const query = waitSeconds === undefined ? {} : { waitSeconds };
    return resultOf(
      await this.api.GET("/organizations/{organizationId}/jobs/{jobId}", {
        params: { path: { organizationId, jobId }, query },
        ...(signal !== undefined && { signal }),
      }),
    );
  }

  /** Waits until the job has ended, however long that takes; `signal` ends the waiting. */
  async waitForJob(organizationId: string, jobId: string, signal?: AbortSignal): Promise<Job> {
    for (;;) {
      signal?.throwIfAborted();
      const job = await this.getJob(organizationId, jobId, 30, signal);
      if (job.status === "SUCCEEDED" || job.status === "FAILED" || job.status === "CANCELLED") return job;
    }
  }

  async sendEvent(organizationId: string, jobId: string, body: Body<"SendJobEvent">) {
    return resultOf(
      await this.api.POST("/organizations/{organizationId}/jobs/{jobId}/events", {
        params: { path: { organizationId, jobId } },
        body,
      }),
    );
  }

  /** The id of the version that a tag points at; undefined when there is no such tag. */
  async #taggedVersionId(path: { organizationId: string; workflowId: string; tag: string }) {
    const answer = await this.api.GET("/organizations/{organizationId}/workflows/{workflowId}/tags/{tag}", {
      params: { path },
    });
    return answer.response.status === 404 ? undefined : resultOf(answer).versionId;
  }

  async #workflowIdFor(organizationId: string, name: string): Promise<string> {
    const found = await this.findWorkflow(organizationId, name);
    if (found !== undefined) return found.workflowId;
    const made = await this.api.POST("/organizations/{organizationId}/workflows", {
      params: { path: { organizationId } },
      body: { name },
    });
    return resultOf(made).workflowId;
  }
}

function resultOf<Data>(answer: { data?: Data; error?: unknown; response: Response }): Data {
  if (answer.response.ok && answer.data !== undefined) return answer.data;
  throw new StepwellError(problemOf(answer.error, answer.response.status));
}

function parseDefinition(text: string): { workflowName?: unknown } {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`The definition is not JSON: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** A proxy in between may answer something of its own. */
function problemOf(error: unknown, status: number): Problem {
  if (typeof error === "object" && error !== null && "code" in error && "detail" in error) return error as Problem;
  return {
    title: "Unexpected answer",
    status,
    detail: `The service answered ${status} and no reason.`,
    code: "UnhandledError",
  };
}

function nameIn(definition: string): string {
  const { workflowName } = parseDefinition(definition);
  if (typeof workflowName !== "string") throw new Error("The definition has no workflowName.");
  return workflowName;
}
