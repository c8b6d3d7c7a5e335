import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountQuery } from "../../../api/account.ts";
import { revokeUserToken, type UserToken, userTokensQuery } from "../../../api/user-tokens.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { RemovalDialog } from "../../../parts/dialogs/RemovalDialog.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { lifeColumns, prefixColumn, revokeColumn } from "../token-columns.tsx";
import { CreateUserToken } from "./CreateUserToken.tsx";

export function UserTokensPage() {
  const words = texts.userTokens;
  const query = useInfiniteQuery(userTokensQuery);
  const account = useQuery(accountQuery);
  const [isCreating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<UserToken | undefined>();
  return (
    <>
      <ListPanel
        title={words.title}
        caption={words.caption}
        query={query}
        rows={query.data?.pages.flatMap((page) => page.userTokens)}
        rowKey={({ userTokenId }) => userTokenId}
        columns={columnsFor(setDoomed)}
        empty={<EmptyState title={words.emptyTitle} text={words.empty} />}
        actions={
          <Button icon="plus" isBusy={isCreating && account.isPending} onClick={() => setCreating(true)}>
            {words.create}
          </Button>
        }
      />
      {isCreating && account.data === undefined && account.error !== null && (
        <Problem error={account.error} onRetry={() => void account.refetch()} />
      )}
      {isCreating && account.data !== undefined && (
        <CreateUserToken account={account.data} onClose={() => setCreating(false)} />
      )}
      {doomed !== undefined && <RevokeUserToken token={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function columnsFor(onRevoke: (token: UserToken) => void): readonly Column<UserToken>[] {
  const words = texts.apiTokens;
  return [
    { id: "name", header: words.name, cell: ({ name }) => <strong title={name}>{name}</strong> },
    prefixColumn(),
    {
      id: "created",
      header: words.created,
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} isRelative />,
    },
    ...lifeColumns(),
    revokeColumn(onRevoke),
  ];
}

function RevokeUserToken({ token, onClose }: { readonly token: UserToken; readonly onClose: () => void }) {
  const words = texts.apiTokens;
  return (
    <RemovalDialog
      onClose={onClose}
      title={words.revokeTitle(token.name)}
      description={texts.userTokens.revokeText}
      action={words.revoke}
      remove={() => revokeUserToken(token.userTokenId)}
      removed={words.revoked(token.name)}
      queryKey={userTokensQuery.queryKey}
    />
  );
}
