import type { jobPagesQuery } from "../../api/jobs.ts";

export type JobPages = ReturnType<typeof jobPagesQuery>;

let shown: { readonly organizationId: string; readonly pages: JobPages } | undefined;

/** Keeps which list of jobs was shown last, so that a job's page can lead on to the next one in it. */
export function rememberList(organizationId: string, pages: JobPages): void {
  shown = { organizationId, pages };
}

export function lastList(organizationId: string): JobPages | undefined {
  return shown?.organizationId === organizationId ? shown.pages : undefined;
}
