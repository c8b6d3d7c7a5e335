import { EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import { type ReceivedRequest, ScriptedServer } from "./scripted-server.ts";

/** One request of a job's HTTP step, as the server receives it. */
export interface AskedRequest extends ReceivedRequest {
  respond(status: number, body?: unknown): void;
}

/** A server for HTTP steps. It answers the requests of each job when the test tells it to. */
export class AskedServer {
  readonly #asked = new Map<string, AskedRequest[]>();
  readonly #arrivals = new EventEmitter();
  #server: ScriptedServer | undefined;

  static async start(): Promise<AskedServer> {
    const asked = new AskedServer();
    asked.#server = await ScriptedServer.start((response, request) => asked.#receive(response, request));
    return asked;
  }

  /** The address, without a slash at its end. */
  get origin(): string {
    return this.#server?.endpoint.origin ?? "";
  }

  /** The earliest request of this job that this method has not returned before. Waits until there is one. */
  async nextRequest(jobId: string): Promise<AskedRequest> {
    const request = this.#askedBy(jobId).shift();
    if (request !== undefined) return request;
    await once(this.#arrivals, jobId);
    return await this.nextRequest(jobId);
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #receive(response: ServerResponse, request: ReceivedRequest): void {
    const [jobId = ""] = String(request.headers["idempotency-key"]).split(":");
    this.#askedBy(jobId).push({
      ...request,
      respond: (status, body) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(body === undefined ? undefined : JSON.stringify(body));
      },
    });
    this.#arrivals.emit(jobId);
  }

  #askedBy(jobId: string): AskedRequest[] {
    const requests = this.#asked.get(jobId) ?? [];
    this.#asked.set(jobId, requests);
    return requests;
  }
}
