/** As people say what the API's words mean. */
export const status = {
  PENDING: "Pending",
  RUNNING: "Running",
  WAITING: "Waiting",
  RETRYING: "Retrying",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
} as const;
