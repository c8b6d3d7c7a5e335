/** Calls the HTTP API with plain JSON, for work that is not measured: creating workflows and reading results. */
export class Api {
  readonly #baseUrl: string;
  readonly #token: string;

  constructor(port: number, token: string) {
    this.#baseUrl = `http://127.0.0.1:${port}`;
    this.#token = token;
  }

  get<Result>(path: string): Promise<Result> {
    return this.#call("GET", path);
  }

  post<Result>(path: string, body?: unknown): Promise<Result> {
    return this.#call("POST", path, body);
  }

  put<Result>(path: string, body: unknown): Promise<Result> {
    return this.#call("PUT", path, body);
  }

  async #call<Result>(method: string, path: string, body?: unknown): Promise<Result> {
    const answer = await fetch(`${this.#baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as Result;
  }
}

/** Registers the workflow and a first version of it, and makes this version the live one. Returns the workflow's id. */
export async function registerWorkflow(api: Api, organizationId: string, definition: Definition): Promise<string> {
  const workflows = `/organizations/${organizationId}/workflows`;
  const { workflowId } = await api.post<{ workflowId: string }>(workflows, { name: definition.workflowName });
  const { versionId } = await api.post<{ versionId: string }>(`${workflows}/${workflowId}/versions`, {
    definition: JSON.stringify(definition),
  });
  await api.put(`${workflows}/${workflowId}/tags/$LIVE`, { versionId });
  return workflowId;
}

export interface Definition {
  readonly workflowName: string;
  readonly steps: readonly object[];
  readonly definitions: Readonly<Record<string, object>>;
}
