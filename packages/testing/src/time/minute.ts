import type { TestService } from "../service.ts";

/**
 * Does all of the work in the same minute of the service's clock, so that it counts in one window of a rate limit. If a new minute begins meanwhile,
 * the work is repeated in the new minute. So the work must begin by creating an organization of its own.
 */
export async function inOneMinute(service: TestService, work: () => Promise<void>): Promise<void> {
  const minute = () => Math.floor(service.running.engine.now() / 60_000);
  const begunIn = minute();
  const outcome = await work().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (minute() !== begunIn) return await work();
  if (outcome !== undefined) throw outcome.error;
}
