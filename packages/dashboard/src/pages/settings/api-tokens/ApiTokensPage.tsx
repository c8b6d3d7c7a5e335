import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type ApiToken, apiTokensQuery } from "../../../api/api-tokens.ts";
import { usePermission } from "../../../api/permissions.ts";
import { Button } from "../../../parts/Button.tsx";
import { EmptyState } from "../../../parts/EmptyState.tsx";
import { Expiry } from "../../../parts/Expiry.tsx";
import { ListPanel } from "../../../parts/ListPanel.tsx";
import { Permitted } from "../../../parts/Permitted.tsx";
import type { Column } from "../../../parts/Table.tsx";
import { Time } from "../../../parts/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { boundToText } from "./bound-to.ts";
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
    {
      id: "prefix",
      header: words.prefix,
      width: "150px",
      isOptional: true,
      cell: ({ tokenPrefix }) => <code>{tokenPrefix}…</code>,
    },
    {
      id: "permissions",
      header: words.permissions,
      width: "24%",
      isOptional: true,
      cell: ({ permissions }) => <span title={permissions.join(", ")}>{permissions.join(", ")}</span>,
    },
    {
      id: "bound",
      header: words.boundTo,
      isOptional: true,
      cell: ({ boundTo }) => boundToText(boundTo) ?? words.notBound,
    },
    {
      id: "used",
      header: words.lastUsed,
      cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? words.neverUsed : <Time at={lastUsedAt} isRelative />),
    },
    { id: "expires", header: words.expires, isOptional: true, cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
  ];
  if (onRevoke === undefined) return columns;
  const actions: Column<ApiToken> = {
    id: "actions",
    header: texts.settings.actions,
    align: "end",
    width: "100px",
    cell: (token) => (
      <Button kind="quiet" aria-label={words.revokeNamed(token.name)} onClick={() => onRevoke(token)}>
        {words.revoke}
      </Button>
    ),
  };
  return [...columns, actions];
}
