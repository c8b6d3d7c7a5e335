/** The key of one job. It contains the organization. So a look-up by the key goes to one shard, and no organization sees the jobs of another. */
export interface JobKey {
  readonly organizationId: string;
  readonly jobId: string;
}

export function jobIdOf({ jobId }: JobKey): string {
  return jobId;
}

/** The jobs that a statement gets as parameters from `keyColumns`, as rows. */
export const wantedJobs = "unnest($2::uuid[], $3::uuid[]) AS wanted (wanted_organization_id, wanted_job_id)";
/** The condition that finds a job by a row of `wantedJobs`. */
export const isWantedJob =
  "organization_id = ANY($1::uuid[]) AND organization_id = wanted_organization_id AND job_id = wanted_job_id";
