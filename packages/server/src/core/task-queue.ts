/** Names of task queues stand in paths of the API, where a leading dot could change the path. */
export const queueNamePattern = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$";

/** The highest priority; the lowest is its negative. */
export const maxPriority = 100;
