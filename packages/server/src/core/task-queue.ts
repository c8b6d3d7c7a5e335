/** Names of queues of tasks stand in paths of the API, where a leading dot would mean another path. */
export const queueNamePattern = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$";

/** Priorities go from the negative of this up to it. */
export const maxPriority = 100;
