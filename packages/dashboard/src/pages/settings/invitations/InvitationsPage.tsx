import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type Invitation, invitationsQuery } from "../../../api/invitations.ts";
import { usePermission } from "../../../api/permissions.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Expiry } from "../../../parts/words/Expiry.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { CreateInvitation } from "./CreateInvitation.tsx";
import { RevokeInvitation } from "./RevokeInvitation.tsx";

/** Links by which people become members. */
export function InvitationsPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  return (
    <Permitted organizationId={organizationId} permission="invitation:read" title={texts.invitations.title}>
      <Invitations organizationId={organizationId} />
    </Permitted>
  );
}

function Invitations({ organizationId }: { readonly organizationId: string }) {
  const words = texts.invitations;
  const query = useInfiniteQuery(invitationsQuery(organizationId));
  const mayInvite = usePermission(organizationId, "invitation:create");
  const mayReadRoles = usePermission(organizationId, "role:read");
  const mayRevoke = usePermission(organizationId, "invitation:revoke");
  const [isCreating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<Invitation | undefined>();
  return (
    <>
      <ListPanel
        title={words.title}
        caption={words.caption}
        query={query}
        rows={query.data?.pages.flatMap((page) => page.invitations)}
        rowKey={({ invitationId }) => invitationId}
        columns={columnsFor(mayRevoke ? setDoomed : undefined)}
        empty={<EmptyState title={words.emptyTitle} text={words.empty} />}
        actions={
          mayInvite &&
          mayReadRoles && (
            <Button icon="plus" onClick={() => setCreating(true)}>
              {words.create}
            </Button>
          )
        }
      />
      {isCreating && <CreateInvitation organizationId={organizationId} onClose={() => setCreating(false)} />}
      {doomed !== undefined && (
        <RevokeInvitation organizationId={organizationId} invitation={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </>
  );
}

function columnsFor(onRevoke: ((invitation: Invitation) => void) | undefined): readonly Column<Invitation>[] {
  const words = texts.invitations;
  const columns: Column<Invitation>[] = [
    { id: "for", header: words.for, cell: ({ email }) => <span title={email}>{email ?? words.anybody}</span> },
    {
      id: "roles",
      header: words.roles,
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: ({ roles }) => <span title={roles.join(", ")}>{roles.join(", ")}</span>,
    },
    { id: "status", header: words.status, width: "84px", cell: ({ status }) => words.statuses[status] },
    {
      id: "created",
      header: words.created,
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} isRelative />,
    },
    { id: "expires", header: words.expires, isOptional: true, cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
  ];
  if (onRevoke === undefined) return columns;
  const actions: Column<Invitation> = {
    id: "actions",
    header: texts.settings.actions,
    align: "end",
    width: "100px",
    cell: (invitation) =>
      invitation.status === "open" && (
        <Button
          kind="quiet"
          aria-label={words.revokeNamed(invitation.email ?? words.anybody)}
          onClick={() => onRevoke(invitation)}
        >
          {words.revoke}
        </Button>
      ),
  };
  return [...columns, actions];
}
