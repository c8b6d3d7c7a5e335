import type { ListedJob } from "../../api/jobs.ts";
import { JobLink } from "../../parts/words/JobLink.tsx";
import { StatusBadge } from "../../parts/words/StatusBadge.tsx";
import { shownStatus } from "../../parts/words/shown-status.ts";
import { texts } from "../../texts/texts.ts";

interface ChildLinksProps {
  readonly organizationId: string;
  readonly jobs: readonly ListedJob[];
}

/** The jobs that one run of a step started. */
export function ChildLinks({ organizationId, jobs }: ChildLinksProps) {
  if (jobs.length === 0) return null;
  return (
    <section className="step-children">
      <h3>{texts.job.children.title}</h3>
      <ul>
        {jobs.map((job) => (
          <li key={job.jobId} className="row">
            <JobLink organizationId={organizationId} job={job} />
            <StatusBadge status={shownStatus(job)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
