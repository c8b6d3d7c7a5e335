import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type OAuthClient, oauthClientsQuery } from "../../../api/oauth-clients.ts";
import { usePermission } from "../../../api/permissions.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { CopyButton } from "../../../parts/controls/CopyButton.tsx";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import "./OAuthClientsPage.css";
import { CreateOAuthClient } from "./CreateOAuthClient.tsx";
import { DeleteOAuthClient } from "./DeleteOAuthClient.tsx";

/** The browser applications to which members sign in. */
export function OAuthClientsPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  return (
    <Permitted organizationId={organizationId} permission="oauthclient:list" title={texts.oauthClients.title}>
      <OAuthClients organizationId={organizationId} />
    </Permitted>
  );
}

function OAuthClients({ organizationId }: { readonly organizationId: string }) {
  const words = texts.oauthClients;
  const query = useInfiniteQuery(oauthClientsQuery(organizationId));
  const mayCreate = usePermission(organizationId, "oauthclient:create");
  const mayDelete = usePermission(organizationId, "oauthclient:delete");
  const [isCreating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<OAuthClient | undefined>();
  return (
    <>
      <ListPanel
        title={words.title}
        caption={words.caption}
        query={query}
        rows={query.data?.pages.flatMap((page) => page.oauthClients)}
        rowKey={({ clientId }) => clientId}
        columns={columnsFor(mayDelete ? setDoomed : undefined)}
        foldLines={5}
        empty={<EmptyState title={words.emptyTitle} text={words.empty} />}
        actions={
          mayCreate && (
            <Button icon="plus" onClick={() => setCreating(true)}>
              {words.create}
            </Button>
          )
        }
      />
      {isCreating && <CreateOAuthClient organizationId={organizationId} onClose={() => setCreating(false)} />}
      {doomed !== undefined && (
        <DeleteOAuthClient organizationId={organizationId} client={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </>
  );
}

function columnsFor(onDelete: ((client: OAuthClient) => void) | undefined): readonly Column<OAuthClient>[] {
  const words = texts.oauthClients;
  const columns: Column<OAuthClient>[] = [
    { id: "name", header: words.name, cell: ({ name }) => <span title={name}>{name}</span> },
    {
      id: "clientId",
      header: words.clientId,
      isOptional: true,
      cell: ({ clientId, name }) => (
        <span className="client-id">
          <code title={clientId}>{clientId}</code>
          <CopyButton text={clientId} label={words.copyIdOf(name)} isIconOnly />
        </span>
      ),
    },
    {
      id: "redirectUris",
      header: words.redirectUris,
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: ({ redirectUris }) => <span title={redirectUris.join(" ")}>{redirectUris.join(" ")}</span>,
    },
    {
      id: "created",
      header: words.created,
      isOptional: true,
      width: "124px",
      cell: ({ createdAt }) => <Time at={createdAt} isRelative />,
    },
  ];
  if (onDelete === undefined) return columns;
  const actions: Column<OAuthClient> = {
    id: "actions",
    header: texts.settings.actions,
    align: "end",
    width: "100px",
    cell: (client) => (
      <Button kind="quiet" aria-label={words.removeNamed(client.name)} onClick={() => onDelete(client)}>
        {words.remove}
      </Button>
    ),
  };
  return [...columns, actions];
}
