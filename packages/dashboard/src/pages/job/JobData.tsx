import { JsonView, NoJson } from "../../parts/data/JsonView.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { texts } from "../../texts/texts.ts";
import { isFinished } from "./job-story.ts";
import type { ShownJob } from "./use-job.ts";

export function JobData({ shown: { job, story } }: { readonly shown: ShownJob }) {
  const words = texts.job;
  const output = story.status === "SUCCEEDED" ? story.main?.output : undefined;
  return (
    <Panel title={words.jobData}>
      <div className="job-data">
        <JsonView label={words.jobInput} value={job.input} />
        {output === undefined ? (
          <NoJson label={words.jobOutput} text={isFinished(story.status) ? words.noOutputAtAll : words.noOutput} />
        ) : (
          <JsonView label={words.jobOutput} value={output} />
        )}
      </div>
    </Panel>
  );
}
