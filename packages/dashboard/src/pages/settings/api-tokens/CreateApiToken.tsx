import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiTokensQueryKey, createApiToken } from "../../../api/api-tokens.ts";
import { FormDialog } from "../../../parts/dialogs/FormDialog.tsx";
import { SecretDialog } from "../../../parts/dialogs/SecretDialog.tsx";
import { texts } from "../../../texts/texts.ts";
import { TokenFields } from "./TokenFields.tsx";
import { missingIn, newDraft, wishOf } from "./token-draft.ts";
import { tokenProblems } from "./token-problems.ts";

interface CreateApiTokenProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

/** Asks what the token is for and what it may do, then shows it once. */
export function CreateApiToken({ organizationId, onClose }: CreateApiTokenProps) {
  const words = texts.apiTokens;
  const [draft, setDraft] = useState(newDraft);
  const [wasSent, setSent] = useState(false);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => createApiToken(organizationId, wishOf(draft)),
    // The secret is shown at once, without waiting for the new list.
    onSuccess: () => void queries.invalidateQueries({ queryKey: apiTokensQueryKey(organizationId) }),
  });
  const problems = tokenProblems(create.error);
  if (create.data !== undefined) {
    const { name, token } = create.data;
    return (
      <SecretDialog
        title={words.createdTitle(name)}
        text={words.use}
        label={words.token}
        secret={token}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      onClose={onClose}
      title={words.createTitle}
      description={words.createText}
      isWide
      action={words.create}
      isBusy={create.isPending}
      error={problems.rest}
      onSubmit={() => {
        setSent(true);
        if (missingIn(draft) === undefined) create.mutate();
      }}
    >
      <TokenFields {...{ organizationId, draft, wasSent, problems }} onChange={setDraft} />
    </FormDialog>
  );
}
