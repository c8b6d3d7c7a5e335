import { fieldProblems } from "../../../api/problem.ts";

/** Returns the service's messages about the fields of a token, by field. */
export function tokenProblems(error: unknown) {
  return fieldProblems(error, ["/name", "/permissions", "/expiresAt", "/boundTo"]);
}
