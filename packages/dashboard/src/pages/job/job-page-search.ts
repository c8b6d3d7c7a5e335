/** What the address of a job's page says beside the job: the step that is looked at. */
export interface JobPageSearch {
  readonly step?: string;
  readonly visit?: number;
}

export function parseJobPageSearch(search: Record<string, unknown>): JobPageSearch {
  // A step may be called 7, and the router reads numbers.
  const step = typeof search.step === "number" ? String(search.step) : search.step;
  if (typeof step !== "string" || step === "") return {};
  const { visit } = search;
  return typeof visit === "number" && Number.isInteger(visit) && visit > 0 ? { step, visit } : { step };
}
