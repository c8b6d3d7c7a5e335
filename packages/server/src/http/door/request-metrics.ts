/** Told of every request that an operation answered. */
export interface RequestMetrics {
  requestStarted(): void;
  requestFinished(operationId: string, status: number, durationMs: number): void;
  /** A rate limit rejected a request: whose limit, and which. */
  requestLimited(scope: string, policy: string): void;
}
