import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export interface OfflineServer {
  readonly endpoint: URL;
  readonly stop: () => Promise<void>;
}

/** Starts the Lambda server of serverless-offline with the functions of `functions.mjs`. */
export async function startOfflineServer(): Promise<OfflineServer> {
  const child = fork(join(import.meta.dirname, "offline-process.ts"), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exit = once(child, "exit");
  const [{ endpoint }] = await Promise.race([
    once(child, "message"),
    exit.then(() => Promise.reject(new Error("The Lambda server did not start."))),
  ]);
  const stop = async () => {
    child.kill();
    await exit;
  };
  return { endpoint: new URL(endpoint), stop };
}
