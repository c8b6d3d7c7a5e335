import { type ApiToken, apiTokensQueryKey, revokeApiToken } from "../../../api/api-tokens.ts";
import { RemovalDialog } from "../../../parts/dialogs/RemovalDialog.tsx";
import { texts } from "../../../texts/texts.ts";

interface RevokeApiTokenProps {
  readonly organizationId: string;
  readonly token: ApiToken;
  readonly onClose: () => void;
  readonly onRevoked?: () => void;
}

export function RevokeApiToken({ organizationId, token, onClose, onRevoked }: RevokeApiTokenProps) {
  const words = texts.apiTokens;
  const { tokenId, name } = token;
  return (
    <RemovalDialog
      onClose={onClose}
      title={words.revokeTitle(name)}
      description={words.revokeText}
      action={words.revoke}
      remove={() => revokeApiToken({ organizationId, tokenId })}
      removed={words.revoked(name)}
      // Only the list is read again, because the token's own page would request a token that no longer exists.
      queryKey={[...apiTokensQueryKey(organizationId), "list"]}
      {...(onRevoked !== undefined && { onRemoved: onRevoked })}
    />
  );
}
