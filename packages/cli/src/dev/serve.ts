import {
  type Config,
  describeUnknownVariables,
  type RunningService,
  readConfig,
  type StartOptions,
  startService,
} from "@stepwell/server";

export async function serve({ open }: Pick<StartOptions, "open"> = {}): Promise<void> {
  await startUntilSignal(readConfig(process.env), open);
}

/**
 * Starts the service. On SIGTERM or SIGINT, drains and stops it. A second signal ends the process at once. Under `npm start` one key press sends two
 * signals, from the terminal and from npm, so signals within a second count as one.
 */
export async function startUntilSignal(config: Config, open?: StartOptions["open"]): Promise<RunningService> {
  const service = await startService(config, { warnings: describeUnknownVariables(process.env), open });
  let stoppingSince: number | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stoppingSince !== undefined) {
        if (performance.now() - stoppingSince > 1_000) process.exit(130);
        return;
      }
      stoppingSince = performance.now();
      void service.stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
  return service;
}
