import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { revokeUserToken, type UserToken, userTokensQuery } from "../../../api/user-tokens.ts";
import { Button } from "../../../parts/Button.tsx";
import { ConfirmDialog } from "../../../parts/ConfirmDialog.tsx";
import { EmptyState } from "../../../parts/EmptyState.tsx";
import { Expiry } from "../../../parts/Expiry.tsx";
import { ListPanel } from "../../../parts/ListPanel.tsx";
import type { Column } from "../../../parts/Table.tsx";
import { Time } from "../../../parts/Time.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";
import { CreateUserToken } from "./CreateUserToken.tsx";

export function UserTokensPage() {
  const words = texts.userTokens;
  const query = useInfiniteQuery(userTokensQuery);
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
          <Button icon="plus" onClick={() => setCreating(true)}>
            {words.create}
          </Button>
        }
      />
      {isCreating && <CreateUserToken onClose={() => setCreating(false)} />}
      {doomed !== undefined && <RevokeUserToken token={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

function columnsFor(onRevoke: (token: UserToken) => void): readonly Column<UserToken>[] {
  const words = texts.apiTokens;
  return [
    { id: "name", header: words.name, cell: ({ name }) => <strong title={name}>{name}</strong> },
    {
      id: "prefix",
      header: words.prefix,
      isOptional: true,
      cell: ({ tokenPrefix }) => <code>{tokenPrefix}…</code>,
    },
    {
      id: "created",
      header: words.created,
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} isRelative />,
    },
    {
      id: "used",
      header: words.lastUsed,
      cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? words.neverUsed : <Time at={lastUsedAt} isRelative />),
    },
    { id: "expires", header: words.expires, isOptional: true, cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
    {
      id: "actions",
      header: texts.settings.actions,
      align: "end",
      width: "100px",
      cell: (token) => (
        <Button kind="quiet" aria-label={words.revokeNamed(token.name)} onClick={() => onRevoke(token)}>
          {words.revoke}
        </Button>
      ),
    },
  ];
}

function RevokeUserToken({ token, onClose }: { readonly token: UserToken; readonly onClose: () => void }) {
  const words = texts.apiTokens;
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeUserToken(token.userTokenId),
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: words.revoked(token.name) });
      await queries.invalidateQueries({ queryKey: userTokensQuery.queryKey });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.revokeTitle(token.name)}
      description={texts.userTokens.revokeText}
      action={words.revoke}
      isDanger
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    />
  );
}
