/**
 * Which set of tests runs, as scripts/test.ts says: `quick` is the daily loop, `usual` is `npm test`, `all` is the whole matrix. A file that is run by
 * itself is run as `npm test` runs it.
 */
export const scope = process.env.STEPWELL_TEST_SCOPE ?? "usual";
