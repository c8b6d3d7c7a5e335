import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { MovingClock } from "./moving-clock.ts";

/** The output or the error of a function, and its duration by the moving clock. */
export interface FunctionAnswer {
  readonly tookMs: number;
  readonly output?: unknown;
  readonly error?: { readonly errorType: string; readonly errorMessage: string };
}

/** Returns undefined if the function does not answer while the pictures are taken. */
export type FunctionBody = (input: Record<string, unknown>, attempt: number) => FunctionAnswer | undefined;

/** Serves the cloud functions that the workflows of the screenshots call. Returns their address, and a function that stops the server. */
export async function startFunctions(
  clock: MovingClock,
  bodies: Readonly<Record<string, FunctionBody>>,
): Promise<{ endpoint: string; stop: () => void }> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request.setEncoding("utf8")) text += part;
    const [, , , functionName = ""] = (request.url ?? "").split("/");
    const context = Buffer.from(String(request.headers["x-amz-client-context"] ?? ""), "base64").toString("utf8");
    const body = bodies[functionName];
    if (body === undefined) throw new Error(`No function is called ${functionName}.`);
    const answer = body(JSON.parse(text), JSON.parse(context).custom.attempt);
    if (answer === undefined) return;
    clock.pass(answer.tookMs);
    send(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

function send(response: ServerResponse, { output, error }: FunctionAnswer): void {
  if (error !== undefined) response.setHeader("x-amz-function-error", "Unhandled");
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(error ?? output));
}
