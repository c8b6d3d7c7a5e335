import { useQuery } from "@tanstack/react-query";
import type { WholeJob } from "../../api/job.ts";
import { usePermission } from "../../api/permissions.ts";
import { versionQuery } from "../../api/workflows.ts";

/** Reads the version that a job runs, with its definition. `version` is undefined until it is loaded, and for people who may not read versions. */
export function useJobVersion(organizationId: string, job: WholeJob | undefined) {
  const mayReadVersion = usePermission(organizationId, "workflow:version:read");
  const { data: version, error } = useQuery({
    ...versionQuery({ organizationId, workflowId: job?.workflowId ?? "" }, job?.workflowVersion.versionId ?? ""),
    enabled: mayReadVersion && job !== undefined,
  });
  return { version, error, mayReadVersion };
}
