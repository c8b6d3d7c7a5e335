import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiToken, apiTokensQueryKey, rotateApiToken } from "../../../api/api-tokens.ts";
import { Choice } from "../../../parts/controls/Field.tsx";
import { ConfirmDialog } from "../../../parts/dialogs/ConfirmDialog.tsx";
import { SecretDialog } from "../../../parts/dialogs/SecretDialog.tsx";
import { texts } from "../../../texts/texts.ts";

interface RotateApiTokenProps {
  readonly organizationId: string;
  readonly token: ApiToken;
  readonly onClose: () => void;
}

/** Gives the same token a new secret. The present secret ends at once, or after a time that the user chooses. */
export function RotateApiToken({ organizationId, token: { tokenId, name }, onClose }: RotateApiTokenProps) {
  const words = texts.apiTokens;
  const [overlap, setOverlap] = useState("3600");
  const queries = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => rotateApiToken({ organizationId, tokenId }, Number(overlap)),
    // The secret is shown at once, without waiting for the new list.
    onSuccess: () => void queries.invalidateQueries({ queryKey: apiTokensQueryKey(organizationId) }),
  });
  if (rotate.data !== undefined) {
    const { token } = rotate.data;
    return (
      <SecretDialog
        title={words.rotatedTitle(name)}
        text={words.use}
        label={words.token}
        secret={token}
        onClose={onClose}
      />
    );
  }
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.rotateTitle(name)}
      description={words.rotateText}
      action={words.rotate}
      isBusy={rotate.isPending}
      error={rotate.error}
      onConfirm={() => rotate.mutate()}
    >
      <Choice label={words.overlap} value={overlap} onChange={(event) => setOverlap(event.target.value)}>
        {Object.entries(words.overlaps).map(([seconds, text]) => (
          <option key={seconds} value={seconds}>
            {text}
          </option>
        ))}
      </Choice>
    </ConfirmDialog>
  );
}
