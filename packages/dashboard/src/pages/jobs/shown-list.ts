import type { jobPagesQuery } from "../../api/jobs.ts";

export type JobPages = ReturnType<typeof jobPagesQuery>;

let shown: { readonly organizationId: string; readonly pages: JobPages } | undefined;

/** Remembers which list of jobs was shown last, so that a job's page can lead to the next job in it. */
export function rememberList(organizationId: string, pages: JobPages): void {
  shown = { organizationId, pages };
}

export function lastList(organizationId: string): JobPages | undefined {
  return shown?.organizationId === organizationId ? shown.pages : undefined;
}
