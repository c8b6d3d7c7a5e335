import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { type Explanation as Explained, explanationQuery, type JobKey, type Wait } from "../../api/job.ts";
import { usePermission } from "../../api/permissions.ts";
import { progressText } from "../../graph/step-look.ts";
import { Icon, type IconName } from "../../parts/layout/Icon.tsx";
import { PageDocs } from "../../parts/layout/PageDocs.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { JobLink } from "../../parts/words/JobLink.tsx";
import { Quoted } from "../../parts/words/Quoted.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { usePaced } from "../../parts/words/use-paced.ts";
import { texts } from "../../texts/texts.ts";
import "./Explanation.css";
import { branchWords } from "./branch-words.ts";
import { SendEventDialog } from "./events/SendEventDialog.tsx";
import { SendMissing } from "./events/SendMissing.tsx";
import { isFinished } from "./job-story.ts";
import type { ShownJob } from "./use-job.ts";
import { useJobVersion } from "./use-job-version.ts";

interface ExplanationProps {
  readonly jobKey: JobKey;
  readonly shown: ShownJob;
}

/** Says in one sentence why the job is where it is, and shows the facts behind that sentence. Offers to send the events that are missing. */
export function Explanation({ jobKey, shown: { job, story } }: ExplanationProps) {
  const { sequence, status } = story;
  const { version, error: versionError, mayReadVersion } = useJobVersion(jobKey.organizationId, job);
  const paced = usePaced(sequence, askMs);
  const { data, error, refetch } = useQuery(explanationQuery(jobKey, paced, isFinished(status)));
  const maySend = usePermission(jobKey.organizationId, "job:event:send");
  // The event whose payload the user types. It is not kept in `SendMissing`, so that the dialog and its text stay when the explanation changes.
  const [writtenId, setWrittenId] = useState<string | undefined>();
  const words = texts.job;
  const problem = error !== null && <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) {
    return (
      problem || (
        <div className="explanation-place">
          <Skeleton rows={2} />
        </div>
      )
    );
  }
  const { state, sentence, facts } = data;
  const missing = facts.missingEventIds ?? [];
  // Buttons and forms are invisible until the version is loaded or cannot be read. Otherwise a button could turn into a form just before a click.
  // Their space is kept from the beginning, so that the parts of the page below them do not move.
  const isVersionSettled = version !== undefined || !mayReadVersion || versionError !== null;
  const wait = waitOf(facts);
  return (
    <>
      {problem}
      <section
        className={`explanation explanation-${missing.length > 0 ? "waitingForEvents" : state}`}
        aria-label={words.whyTitle}
      >
        <Icon name={icons[state]} />
        <div className="explanation-text">
          <div className="explanation-title">
            <h2>{words.why[state]}</h2>
            <PageDocs of="explanation" />
          </div>
          <p>
            <Quoted text={sentence} />
          </p>
          <dl>
            {factsOf(facts, story, jobKey.organizationId).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          {maySend && missing.length > 0 && wait !== undefined && (
            <div className={isVersionSettled ? "explanation-help" : "explanation-help explanation-help-unsettled"}>
              <SendMissing
                key={`${wait.visit} ${wait.branch} ${wait.step}`}
                where={branchWords(story, wait.branch ?? "")}
                jobKey={jobKey}
                wait={wait}
                missing={missing}
                definition={version?.definition}
                onWithPayload={setWrittenId}
              />
            </div>
          )}
        </div>
      </section>
      {writtenId !== undefined && (
        <SendEventDialog
          jobKey={jobKey}
          eventId={writtenId}
          story={story}
          missing={wait === undefined ? [] : missing.map((eventId) => ({ eventId, ...wait }))}
          wait={wait}
          onClose={() => setWrittenId(undefined)}
        />
      )}
    </>
  );
}

/** A job may move a hundred times in a second, so the explanation is requested at most this often. */
const askMs = 500;

const icons: Readonly<Record<Explained["state"], IconName>> = {
  due: "clock",
  roomFull: "hourglass",
  queued: "hourglass",
  calling: "job",
  nodeLost: "alert",
  parked: "alert",
  retrying: "retry",
  delayed: "moon",
  forked: "hourglass",
  waitingForWorker: "hourglass",
  working: "job",
  waitingForJob: "hourglass",
  waitingForEvents: "hourglass",
  succeeded: "check",
  failed: "cross",
  cancelled: "ban",
};

/** The facts behind the sentence. The sentence contains durations. The facts show times instead, so that they can be compared with logs. */
function factsOf(
  facts: Explained["facts"],
  story: ShownJob["story"],
  organizationId: string,
): (readonly [string, ReactNode])[] {
  const words = texts.job.facts;
  const { since, attempt, maxAttempts, nextAttemptAt, retryAt, timeoutAt, node } = facts;
  const { delayEndsAt, jobTimeoutAt, bufferedEventIds, callCount, maxCallsPerNode, branch, queue, worker, childJob } =
    facts;
  const progress = progressOf(facts);
  const shown: (readonly [string, ReactNode] | false)[] = [
    [isFinished(story.status) ? words.ended : words.since, <Time key="since" at={since} />],
    progress !== undefined && [words.branches, progressText(progress)],
    branch !== undefined && [words.branch, branchWords(story, branch)],
    queue !== undefined && [
      words.queue,
      <QueueFact key="queue" {...{ organizationId, queue }} isHeld={worker !== undefined} />,
    ],
    childJob !== undefined && [words.childJob, <JobLink key="child" organizationId={organizationId} job={childJob} />],
    worker !== undefined && [words.worker, <WorkerFact key="worker" worker={worker} />],
    attempt !== undefined && maxAttempts !== undefined && [words.attempt, words.attemptOf(attempt, maxAttempts)],
    nextAttemptAt !== undefined && [words.nextAttemptAt, <Time key="next" at={nextAttemptAt} />],
    retryAt !== undefined && [words.retryAt, <Time key="retry" at={retryAt} />],
    delayEndsAt !== undefined && [words.delayEndsAt, <Time key="delay" at={delayEndsAt} />],
    timeoutAt !== undefined && [words.timeoutAt, <Time key="timeout" at={timeoutAt} />],
    jobTimeoutAt !== undefined && [words.jobTimeoutAt, <Time key="jobTimeout" at={jobTimeoutAt} />],
    node !== undefined && [words.node, <NodeFact key="node" node={node} />],
    callCount !== undefined &&
      maxCallsPerNode !== undefined && [words.calls, words.callsOf(callCount, maxCallsPerNode)],
    bufferedEventIds !== undefined && [words.buffered, bufferedEventIds.join(", ")],
  ];
  return shown.filter((fact) => fact !== false);
}

/** How far the branches of the step have come. While a step runs, none of its branches is cancelled. */
function progressOf({ branchCount, openCount, succeededCount, failedCount }: Explained["facts"]) {
  if (branchCount === undefined || openCount === undefined) return undefined;
  const counts = { succeeded: succeededCount ?? 0, failed: failedCount ?? 0, cancelled: 0 };
  return { all: branchCount, open: openCount, ...counts };
}

/** Returns the wait that lacks events: that of the main line, or of the branch that is explained. */
function waitOf({ step, visit, branch, branchStep, branchVisit }: Explained["facts"]): Wait | undefined {
  if (branch === undefined) return step === undefined || visit === undefined ? undefined : { step, visit };
  return branchStep === undefined || branchVisit === undefined
    ? undefined
    : { step: branchStep, visit: branchVisit, branch };
}

type QueueFacts = NonNullable<Explained["facts"]["queue"]>;
type WorkerFacts = NonNullable<Explained["facts"]["worker"]>;

interface QueueFactProps {
  readonly organizationId: string;
  readonly queue: QueueFacts;
  /** True if a worker holds the task. */
  readonly isHeld: boolean;
}

/** Shows the queue of a task. While the task waits, also shows when a worker last asked for tasks of this queue. */
function QueueFact({ organizationId, queue: { name, polledAt }, isHeld }: QueueFactProps) {
  const words = texts.job.facts;
  const mayRead = usePermission(organizationId, "task-queue:read");
  return (
    <>
      {mayRead ? (
        <Link to="/app/organizations/$organizationId/task-queues/$queue" params={{ organizationId, queue: name }}>
          {name}
        </Link>
      ) : (
        <code>{name}</code>
      )}
      {!isHeld && <>, {polledAt === undefined ? words.neverPolled : words.polledAt} </>}
      {!isHeld && polledAt !== undefined && <Time at={polledAt} />}
    </>
  );
}

function WorkerFact({ worker: { name, leaseUntil } }: { readonly worker: WorkerFacts }) {
  const words = texts.job.facts;
  return (
    <>
      {name}, {words.leaseUntil} <Time at={leaseUntil} />
    </>
  );
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
