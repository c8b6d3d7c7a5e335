import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ApiToken, apiTokensQueryKey, revokeApiToken } from "../../../api/api-tokens.ts";
import { ConfirmDialog } from "../../../parts/ConfirmDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
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
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeApiToken({ organizationId, tokenId }),
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: words.revoked(name) });
      onRevoked?.();
      await queries.invalidateQueries({ queryKey: [...apiTokensQueryKey(organizationId), "list"] });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.revokeTitle(name)}
      description={words.revokeText}
      action={words.revoke}
      isDanger
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    />
  );
}
