/** Counting stops here. Nobody needs an exact number above it, and counting up to it takes only some milliseconds. */
export const maxTotalCount = 10_000;
