import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type ApiToken, apiTokensQuery } from "../../../api/api-tokens.ts";
import { usePermission } from "../../../api/permissions.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { texts } from "../../../texts/texts.ts";
import { lifeColumns, prefixColumn, revokeColumn } from "../token-columns.tsx";
import { CreateApiToken } from "./CreateApiToken.tsx";
import { RevokeApiToken } from "./RevokeApiToken.tsx";

/** The organization's tokens for programs. */
export function ApiTokensPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  const words = texts.apiTokens;
  return (
    <Permitted organizationId={organizationId} permission="apitoken:read" title={words.title}>
      <ApiTokens organizationId={organizationId} />
    </Permitted>
  );
}

function ApiTokens({ organizationId }: { readonly organizationId: string }) {
  const words = texts.apiTokens;
  const query = useInfiniteQuery(apiTokensQuery(organizationId));
  const mayCreate = usePermission(organizationId, "apitoken:create");
  const mayRevoke = usePermission(organizationId, "apitoken:revoke");
  const [isCreating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<ApiToken | undefined>();
  return (
    <>
      <ListPanel
        title={words.title}
        caption={words.caption}
        query={query}
        rows={query.data?.pages.flatMap((page) => page.apiTokens)}
        rowKey={({ tokenId }) => tokenId}
        columns={columnsFor(organizationId, mayRevoke ? setDoomed : undefined)}
        foldLines={3}
        empty={<EmptyState title={words.emptyTitle} text={words.empty} />}
        actions={
          mayCreate && (
            <Button icon="plus" onClick={() => setCreating(true)}>
              {words.create}
            </Button>
          )
        }
      />
      {isCreating && <CreateApiToken organizationId={organizationId} onClose={() => setCreating(false)} />}
      {doomed !== undefined && (
        <RevokeApiToken organizationId={organizationId} token={doomed} onClose={() => setDoomed(undefined)} />
      )}
    </>
  );
}

function columnsFor(
  organizationId: string,
  onRevoke: ((token: ApiToken) => void) | undefined,
): readonly Column<ApiToken>[] {
  const words = texts.apiTokens;
  const columns: Column<ApiToken>[] = [
    {
      id: "name",
      header: words.name,
      cell: ({ tokenId, name }) => (
        <Link
          to="/app/organizations/$organizationId/settings/api-tokens/$tokenId"
          params={{ organizationId, tokenId }}
          title={name}
        >
          {name}
        </Link>
      ),
    },
    prefixColumn(),
    {
      id: "bound",
      header: words.boundTo,
      isOptional: true,
      cell: ({ boundTo }) => boundToText(boundTo) ?? words.unbound,
    },
    ...lifeColumns(),
    {
      id: "permissions",
      header: words.permissions,
      width: "24%",
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: ({ permissions }) => <span title={permissions.join(", ")}>{permissions.join(", ")}</span>,
    },
  ];
  return onRevoke === undefined ? columns : [...columns, revokeColumn(onRevoke)];
}

/** Describes in a few words what a token is bound to; undefined when it is not bound. */
function boundToText(boundTo: ApiToken["boundTo"]): string | undefined {
  if (boundTo === undefined) return undefined;
  const words = texts.apiTokens;
  const { workflowIds, tags, jobEvent } = boundTo;
  const parts = [
    workflowIds !== undefined && words.boundWorkflows(workflowIds.length),
    tags !== undefined && words.boundTags(tags),
    jobEvent !== undefined && words.boundEvent(jobEvent.eventId),
  ];
  return parts.filter((part) => part !== false).join("; ");
}
