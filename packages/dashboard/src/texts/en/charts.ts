export const charts = {
  throughput: "Jobs that ended",
  throughputLabel: "Jobs that succeeded and failed, by hour, in the last day",
  succeeded: "Succeeded",
  failed: "Failed",
  duration: "How long they took",
  durationLabel: "Time from submission to success, by hour, in the last day",
  median: "Half took at most",
  slow: "95 of 100 at most",
  notDrawn: "The drawing could not be loaded. The table below has the same.",
} as const;
