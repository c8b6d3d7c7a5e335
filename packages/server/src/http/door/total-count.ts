/** Counting stops at this number. Nobody needs an exact number above it, and counting up to it takes only a few milliseconds. */
export const maxTotalCount = 10_000;
