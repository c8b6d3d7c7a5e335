import type { ServerResponse } from "node:http";
import { definitionOf } from "../definitions.ts";
import { accountId } from "./calls.ts";
import { answer, functionError, type ReceivedRequest, ScriptedServer } from "./scripted-server.ts";

/** One call of a function, as the function sees it. */
export interface FunctionCall {
  readonly functionName: string;
  readonly input: unknown;
  readonly jobId: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** The time of the call, by `performance.now()`. */
  readonly receivedAt: number;
  succeed(output?: object): void;
  /** Answers as if the function had thrown an exception of this type. There is another attempt only if the step has a `retry`. */
  fail(type?: string): void;
}

/** Answers a call of one function. */
export type FunctionAnswer = (call: FunctionCall) => void;

/**
 * A server that answers the calls of cloud functions. The function `echo` answers at once with its input, and `broken` fails at once. `start` can add
 * functions that also answer by themselves. Every other function answers when the test tells it to.
 */
export class FunctionServer {
  readonly calls: FunctionCall[] = [];
  readonly #taken = new Set<FunctionCall>();
  readonly #takers = new Map<string, ((call: FunctionCall) => void)[]>();
  readonly #answers: ReadonlyMap<string, FunctionAnswer>;
  #server: ScriptedServer | undefined;

  /** Starts the server. `answers` adds functions, by name, that answer by themselves, as `echo` and `broken` do. */
  static async start(answers: Readonly<Record<string, FunctionAnswer>> = {}): Promise<FunctionServer> {
    const functions = new FunctionServer(answers);
    functions.#server = await ScriptedServer.start((response, request) => functions.#receive(response, request));
    return functions;
  }

  private constructor(answers: Readonly<Record<string, FunctionAnswer>>) {
    const alwaysThere: Record<string, FunctionAnswer> = {
      echo: (call) => call.succeed(call.input as object),
      broken: (call) => call.fail(),
    };
    this.#answers = new Map(Object.entries({ ...alwaysThere, ...answers }));
  }

  /** The setting by which a service finds this server. */
  get environment(): Record<string, string> {
    return { STEPWELL_CLOUD_FUNCTION_ENDPOINT: this.#server?.endpoint.href ?? "" };
  }

  /** The earliest call for this job that this method has not returned before. Waits until there is one. */
  async nextCall(jobId: string): Promise<FunctionCall> {
    const here = this.callsOf(jobId).find((call) => !this.#taken.has(call));
    const call = here ?? (await new Promise<FunctionCall>((resolve) => this.#takersOf(jobId).push(resolve)));
    this.#taken.add(call);
    return call;
  }

  callsOf(jobId: string): FunctionCall[] {
    return this.calls.filter((call) => call.jobId === jobId);
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #receive(response: ServerResponse, request: ReceivedRequest): void {
    const call = readCall(response, request);
    this.calls.push(call);
    this.#answers.get(call.functionName)?.(call);
    this.#takersOf(call.jobId).shift()?.(call);
  }

  #takersOf(jobId: string): ((call: FunctionCall) => void)[] {
    const takers = this.#takers.get(jobId) ?? [];
    this.#takers.set(jobId, takers);
    return takers;
  }
}

function readCall(response: ServerResponse, request: ReceivedRequest): FunctionCall {
  const context = String(request.headers["x-amz-client-context"] ?? "");
  const { custom } = JSON.parse(Buffer.from(context, "base64").toString("utf8"));
  const [, , , functionName = ""] = request.path.split("/");
  return {
    functionName,
    input: JSON.parse(request.body),
    jobId: custom.jobId,
    attempt: custom.attempt,
    idempotencyKey: custom.idempotencyKey,
    receivedAt: performance.now(),
    succeed: (output = {}) => answer(JSON.stringify(output))(response, request),
    fail: (type = "Broken") => functionError({ errorType: type, errorMessage: "It broke." })(response, request),
  };
}

/** A step that calls a function. `more` has further fields of the step, for example its `retry`. */
export function functionStep(
  name: string,
  functionName: string,
  transitionToStep: string | null,
  more: object = {},
): object {
  const any = { $ref: "#/definitions/any" };
  const config = { region: "eu-west-1", accountId, functionName };
  return {
    name,
    integrationDetails: { type: "/service/cloud/function", config, inputDefinition: any, outputDefinition: any },
    transitionToStep,
    ...more,
  };
}

export function callingDefinition(functionName: string, more: object = {}): string {
  return definitionOf(functionStep("call", functionName, null, more));
}
