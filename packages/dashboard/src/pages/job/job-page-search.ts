/** The search part of the address of a job's page: the selected step, its visit, and its branch. */
export interface JobPageSearch {
  readonly step?: string;
  readonly visit?: number;
  /** The path of a branch. If it is left out, all branches are shown. */
  readonly branch?: string;
}

export function parseJobPageSearch(search: Record<string, unknown>): JobPageSearch {
  const { step, branch } = search;
  if (typeof step !== "string" || step === "") return {};
  const visit = Number(search.visit);
  return {
    step,
    ...(Number.isSafeInteger(visit) && visit > 0 && { visit }),
    ...(typeof branch === "string" && branch !== "" && { branch }),
  };
}
