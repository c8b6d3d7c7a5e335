/**
 * Which set of tests runs, as scripts/test.ts decides: `quick` is the daily loop, `usual` is `npm test`, `all` is the whole matrix. A file that is
 * run alone runs as in `npm test`.
 */
export const scope = process.env.STEPWELL_TEST_SCOPE ?? "usual";
