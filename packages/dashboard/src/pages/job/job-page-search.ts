/** What the address of a job's page says beside the job: the step that is looked at. */
export interface JobPageSearch {
  readonly step?: string;
  readonly visit?: number;
}

export function parseJobPageSearch(search: Record<string, unknown>): JobPageSearch {
  const { step } = search;
  if (typeof step !== "string" || step === "") return {};
  const visit = Number(search.visit);
  return Number.isSafeInteger(visit) && visit > 0 ? { step, visit } : { step };
}
