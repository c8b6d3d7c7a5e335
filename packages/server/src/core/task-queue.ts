/** Names of task queues are parts of paths in the API, where a leading dot could change the path. */
export const queueNamePattern = "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$";

/** The highest priority. The lowest priority is the negative of it. */
export const maxPriority = 100;
