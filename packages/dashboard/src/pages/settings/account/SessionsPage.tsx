import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { endSession, sessionsQuery, type UserSession } from "../../../api/sessions.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { ConfirmDialog } from "../../../parts/dialogs/ConfirmDialog.tsx";
import { signOut } from "../../../parts/sign-out.ts";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { toast } from "../../../parts/toasts.ts";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { deviceName } from "./device-name.ts";

/** The sessions in which the person is signed in. The person can end sessions that they do not recognize. */
export function SessionsPage() {
  const words = texts.sessions;
  const query = useInfiniteQuery(sessionsQuery);
  const [doomed, setDoomed] = useState<UserSession | undefined>();
  return (
    <>
      <ListPanel
        title={words.title}
        caption={words.caption}
        query={query}
        rows={query.data?.pages.flatMap((page) => page.sessions)}
        rowKey={({ sessionId }) => sessionId}
        columns={columnsFor(setDoomed)}
        empty={<EmptyState text={words.none} />}
      />
      {doomed !== undefined && <EndSession ended={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function columnsFor(onEnd: (session: UserSession) => void): readonly Column<UserSession>[] {
  const words = texts.sessions;
  return [
    {
      id: "device",
      header: words.device,
      cell: ({ userAgent, isCurrent }) => (
        <span title={userAgent}>
          {deviceName(userAgent)} {isCurrent && <strong>({words.thisOne})</strong>}
        </span>
      ),
    },
    {
      id: "by",
      header: words.by,
      isOptional: true,
      isSelfEvident: true,
      cell: ({ signedInBy, application }) => {
        const way =
          application === undefined ? (words.ways[signedInBy] ?? signedInBy) : words.application(application.name);
        return <span title={way}>{way}</span>;
      },
    },
    { id: "address", header: words.address, isOptional: true, isSelfEvident: true, cell: ({ address }) => address },
    { id: "began", header: words.began, isOptional: true, cell: ({ createdAt }) => <Time at={createdAt} isRelative /> },
    {
      id: "seen",
      header: words.lastSeen,
      isOptional: true,
      width: "124px",
      cell: ({ lastSeenAt }) => <Time at={lastSeenAt} isRelative />,
    },
    {
      id: "actions",
      header: texts.settings.actions,
      align: "end",
      width: "104px",
      cell: (one) =>
        one.isCurrent ? (
          <Button kind="quiet" onClick={() => void signOut()}>
            {texts.shell.signOut}
          </Button>
        ) : (
          <Button
            kind="quiet"
            aria-label={words.endNamed(deviceName(one.userAgent), one.createdAt)}
            onClick={() => onEnd(one)}
          >
            {words.end}
          </Button>
        ),
    },
  ];
}

interface EndSessionProps {
  readonly ended: UserSession;
  readonly onClose: () => void;
}

function EndSession({ ended: { sessionId, userAgent, application }, onClose }: EndSessionProps) {
  const words = texts.sessions;
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: () => endSession(sessionId),
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: words.ended });
      await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.endTitle(deviceName(userAgent))}
      description={application === undefined ? words.endText : words.endApplicationText(application.name)}
      action={words.end}
      isDanger
      isBusy={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate()}
    />
  );
}
