import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Explanation as Explained, explanationQuery, type JobKey } from "../../api/job.ts";
import { usePermission } from "../../api/permissions.ts";
import { Icon, type IconName } from "../../parts/layout/Icon.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { Quoted } from "../../parts/words/Quoted.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { usePaced } from "../../parts/words/use-paced.ts";
import { texts } from "../../texts/texts.ts";
import "./Explanation.css";
import { isFinished } from "./job-story.ts";
import { SendEventDialog } from "./SendEventDialog.tsx";
import { SendMissing } from "./SendMissing.tsx";
import type { ShownJob } from "./use-job.ts";
import { useJobVersion } from "./use-job-version.ts";

interface ExplanationProps {
  readonly jobKey: JobKey;
  readonly shown: ShownJob;
}

/** Why the job is where it is, in one sentence; the facts behind it; and the button that helps. */
export function Explanation({ jobKey, shown: { job, story } }: ExplanationProps) {
  const { sequence, status } = story;
  const { version, error: versionError, mayReadVersion } = useJobVersion(jobKey.organizationId, job);
  const paced = usePaced(sequence, askMs);
  const { data, error, refetch } = useQuery(explanationQuery(jobKey, paced, isFinished(status)));
  const maySend = usePermission(jobKey.organizationId, "job:event:send");
  // Here, since what somebody writes into it outlives the explanation that led there.
  const [writtenId, setWrittenId] = useState<string | undefined>();
  const words = texts.job;
  const problem = error !== null && <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return problem || <Skeleton rows={2} />;
  const { state, sentence, facts } = data;
  const missing = facts.missingEventIds ?? [];
  const { step, visit } = facts;
  // Nothing is shown before that is known: somebody would click a button that turns into a form a moment later.
  const isVersionSettled = version !== undefined || !mayReadVersion || versionError !== null;
  const wait = step !== undefined && visit !== undefined ? { step, visit } : undefined;
  return (
    <>
      {problem}
      <section className={`explanation explanation-${state}`} aria-label={words.whyTitle}>
        <Icon name={icons[state]} />
        <div className="explanation-text">
          <h2>{words.why[state]}</h2>
          <p>
            <Quoted text={sentence} />
          </p>
          <dl>
            {factsOf(facts).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          {maySend && state === "waitingForEvents" && wait !== undefined && isVersionSettled && (
            <SendMissing
              key={`${wait.visit} ${wait.step}`}
              jobKey={jobKey}
              wait={wait}
              missing={missing}
              definition={version?.definition}
              onWithPayload={setWrittenId}
            />
          )}
        </div>
      </section>
      {writtenId !== undefined && (
        <SendEventDialog
          jobKey={jobKey}
          eventId={writtenId}
          suggestions={missing}
          wait={wait}
          onClose={() => setWrittenId(undefined)}
        />
      )}
    </>
  );
}

/** A job may move a hundred times in a second. */
const askMs = 500;

const icons: Readonly<Record<Explained["state"], IconName>> = {
  due: "clock",
  roomFull: "hourglass",
  queued: "hourglass",
  calling: "job",
  nodeLost: "alert",
  parked: "alert",
  retrying: "retry",
  waitingForEvents: "hourglass",
  succeeded: "check",
  failed: "cross",
  cancelled: "ban",
};

/** What the sentence says as spans of time stands here as times, to be compared with logs. */
function factsOf(facts: Explained["facts"]): (readonly [string, ReactNode])[] {
  const words = texts.job.facts;
  const { since, attempt, maxAttempts, nextAttemptAt, retryAt, timeoutAt, node } = facts;
  const { bufferedEventIds, callCount, maxCallsPerNode } = facts;
  const shown: (readonly [string, ReactNode] | false)[] = [
    [words.since, <Time key="since" at={since} />],
    attempt !== undefined && maxAttempts !== undefined && [words.attempt, words.attemptOf(attempt, maxAttempts)],
    nextAttemptAt !== undefined && [words.nextAttemptAt, <Time key="next" at={nextAttemptAt} />],
    retryAt !== undefined && [words.retryAt, <Time key="retry" at={retryAt} />],
    timeoutAt !== undefined && [words.timeoutAt, <Time key="timeout" at={timeoutAt} />],
    node !== undefined && [words.node, <NodeFact key="node" node={node} />],
    callCount !== undefined &&
      maxCallsPerNode !== undefined && [words.calls, words.callsOf(callCount, maxCallsPerNode)],
    bufferedEventIds !== undefined && [words.buffered, bufferedEventIds.join(", ")],
  ];
  return shown.filter((fact) => fact !== false);
}

function NodeFact({
  node: { nodeId, name, isAlive, heartbeatAt },
}: {
  readonly node: NonNullable<Explained["facts"]["node"]>;
}) {
  const words = texts.job.facts;
  return (
    <span title={nodeId}>
      {name ?? nodeId.slice(0, 8)}
      {isAlive ? "" : `, ${words.notAlive}`}
      {heartbeatAt !== undefined && (
        <>
          , {words.heartbeat} <Time at={heartbeatAt} isRelative />
        </>
      )}
    </span>
  );
}
