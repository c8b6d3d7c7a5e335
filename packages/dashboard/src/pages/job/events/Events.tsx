import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type JobEvent, type JobKey, jobEventsQuery } from "../../../api/job.ts";
import { morePages } from "../../../api/more-pages.ts";
import { usePermission } from "../../../api/permissions.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { JsonView } from "../../../parts/data/JsonView.tsx";
import { type Column, Table } from "../../../parts/data/Table.tsx";
import { Dialog } from "../../../parts/dialogs/Dialog.tsx";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { ActorName } from "../../../parts/words/ActorName.tsx";
import { Quoted } from "../../../parts/words/Quoted.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { branchWords } from "../branch-words.ts";
import { isFinished, type JobStory } from "../job-story.ts";
import { missingEventsOf } from "./missing-events.ts";
import { SendEventDialog } from "./SendEventDialog.tsx";

interface EventsProps {
  readonly jobKey: JobKey;
  readonly story: JobStory;
}

/** Every received event, with its effect and the reason for this effect. */
export function Events({ jobKey, story }: EventsProps) {
  const words = texts.job;
  const maySend = usePermission(jobKey.organizationId, "job:event:send") && !isFinished(story.status);
  const query = useInfiniteQuery(jobEventsQuery(jobKey));
  const { data, error, refetch, hasNextPage } = query;
  const [isSending, setSending] = useState(false);
  const [payloadOf, setPayloadOf] = useState<JobEvent | undefined>();
  const events = data?.pages.flatMap((page) => page.events);
  return (
    <Panel
      title={words.events}
      isFlush
      actions={
        maySend && (
          <Button icon="send" onClick={() => setSending(true)}>
            {words.sendAnEvent}
          </Button>
        )
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {events === undefined && error === null && <Skeleton rows={2} />}
      {events?.length === 0 && <EmptyState title={words.noEvents} text={words.noEventsText} />}
      {events !== undefined && events.length > 0 && (
        <Table
          caption={words.eventsCaption}
          columns={columnsFor(jobKey.organizationId, story, setPayloadOf)}
          rows={events}
          rowKey={({ eventNumber }) => String(eventNumber)}
          {...(hasNextPage && { more: morePages(query) })}
        />
      )}
      {isSending && (
        <SendEventDialog
          jobKey={jobKey}
          eventId=""
          missing={missingEventsOf(story)}
          story={story}
          onClose={() => setSending(false)}
        />
      )}
      {payloadOf !== undefined && (
        <Dialog isOpen onClose={() => setPayloadOf(undefined)} title={payloadOf.eventId} isWide>
          <JsonView label={words.payload} value={payloadOf.payload} />
        </Dialog>
      )}
    </Panel>
  );
}

function columnsFor(
  organizationId: string,
  story: JobStory,
  onPayload: (event: JobEvent) => void,
): readonly Column<JobEvent>[] {
  const words = texts.job;
  return [
    { id: "event", header: words.eventId, width: "34%", cell: ({ eventId }) => <code title={eventId}>{eventId}</code> },
    {
      id: "outcome",
      header: words.outcome,
      cell: ({ outcome, reason, duplicateCount, branch, consumedByBranch = branch }) => (
        <span title={reason} className={outcome === "unmatched" ? "step-failed" : undefined}>
          <Quoted text={reason} />
          {consumedByBranch !== undefined && ` (${branchWords(story, consumedByBranch)})`}
          {duplicateCount > 0 && ` (${words.duplicates(duplicateCount)})`}
        </span>
      ),
    },
    {
      id: "payload",
      header: words.payload,
      width: "92px",
      isOptional: true,
      isSelfEvident: true,
      cell: (event) =>
        "payload" in event && (
          <Button kind="quiet" aria-label={words.showPayload(event.eventId)} onClick={() => onPayload(event)}>
            {"{…}"}
          </Button>
        ),
    },
    {
      id: "by",
      header: words.sentBy,
      width: "16%",
      isOptional: true,
      cell: ({ sentBy }) => <ActorName organizationId={organizationId} actor={sentBy} />,
    },
    {
      id: "received",
      header: words.receivedAt,
      width: "124px",
      isOptional: true,
      align: "end",
      cell: ({ receivedAt }) => <Time at={receivedAt} isRelative />,
    },
  ];
}
