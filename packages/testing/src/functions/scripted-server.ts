import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export type Script = (response: ServerResponse, request: ReceivedRequest) => void;

/** A real HTTP server for behaviour that no emulator has: throttling, faults of the called service, connections that break. */
export class ScriptedServer implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  readonly #server = createServer();

  static async start(script: Script): Promise<ScriptedServer> {
    const scripted = new ScriptedServer();
    scripted.#server.on("request", async (request: IncomingMessage, response: ServerResponse) => {
      const { method = "", url: path = "", headers, rawHeaders } = request;
      const received = { method, path, headers, rawHeaders, body: await text(request) };
      scripted.requests.push(received);
      script(response, received);
    });
    scripted.#server.listen(0, "127.0.0.1");
    await once(scripted.#server, "listening");
    return scripted;
  }

  get endpoint(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Answers as AWS does when it rejects a call. */
export function awsError(status: number, type: string, message: string): Script {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", "x-amzn-errortype": type });
    response.end(JSON.stringify({ message }));
  };
}

/** Answers as AWS does when the function failed: with status 200. */
export function functionError(error: unknown): Script {
  return (response) => {
    response.writeHead(200, { "content-type": "application/json", "x-amz-function-error": "Unhandled" });
    response.end(typeof error === "string" ? error : JSON.stringify(error));
  };
}

export function answer(body: string | Uint8Array): Script {
  return (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(body);
  };
}
