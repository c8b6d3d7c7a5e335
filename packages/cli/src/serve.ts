import { type Config, describeUnknownVariables, type RunningService, readConfig, startService } from "@stepwell/server";

export async function serve(): Promise<void> {
  await startUntilSignal(readConfig(process.env));
}

/** Starts the service and stops it in order on SIGTERM or SIGINT; a second signal ends the process at once. */
export async function startUntilSignal(config: Config): Promise<RunningService> {
  const service = await startService(config, describeUnknownVariables(process.env));
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(130);
      isStopping = true;
      void service.stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    });
  }
  return service;
}
