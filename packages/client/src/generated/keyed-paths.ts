/** Generated from the API document: where a POST takes an Idempotency-Key. */
export const keyedPaths = [
  "/organizations",
  "/organizations/{organizationId}/workflows",
  "/organizations/{organizationId}/workflows/{workflowId}/versions",
  "/organizations/{organizationId}/jobs",
  "/organizations/{organizationId}/jobs/{jobId}/cancel",
  "/organizations/{organizationId}/jobs/{jobId}/resume",
  "/organizations/{organizationId}/jobs/{jobId}/events",
  "/organizations/{organizationId}/roles",
  "/invitations/accept",
  "/organizations/{organizationId}/oauth-clients",
];
