export interface RequestMetrics {
  requestStarted(): void;
  requestFinished(operationId: string, status: number, durationMs: number): void;
  /** Called when a rate limit rejects a request, with the scope and the policy of the limit. */
  requestLimited(scope: string, policy: string): void;
}
