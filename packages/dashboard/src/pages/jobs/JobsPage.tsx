import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { jobCountQuery } from "../../api/jobs.ts";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";
import { JobFilterBar } from "./JobFilterBar.tsx";
import { JobTable } from "./JobTable.tsx";
import { type JobSearch, parseJobSearch } from "./job-search.ts";

const from = "/app/organizations/$organizationId/jobs";

/** All jobs that match the filters in the address. */
export function JobsPage() {
  const { organizationId } = useParams({ from });
  const given = useSearch({ from });
  // The router keeps parameters that it does not know, but the API would reject them.
  const search = useMemo(() => parseJobSearch(given), [given]);
  const navigate = useNavigate({ from });
  const { order: _, ...filters } = search;
  const { data: counted } = useQuery(jobCountQuery(organizationId, filters));
  const change = (next: JobSearch) => void navigate({ search: next, replace: true, resetScroll: false });
  return (
    <>
      <PageHeading
        title={texts.jobs.title}
        docs="jobs"
        beside={<span className="soft">{counted !== undefined && texts.jobs.count(counted)}</span>}
      />
      <JobFilterBar organizationId={organizationId} search={search} onChange={change} />
      <JobTable organizationId={organizationId} search={search} onClear={() => change({})} />
    </>
  );
}
