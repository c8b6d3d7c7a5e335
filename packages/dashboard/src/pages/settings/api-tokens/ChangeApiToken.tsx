import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiTokenChange, apiTokensQueryKey, type ShownApiToken, updateApiToken } from "../../../api/api-tokens.ts";
import { FormDialog } from "../../../parts/dialogs/FormDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";
import { TokenFields } from "./TokenFields.tsx";
import { changeOf, draftOf, missingIn } from "./token-draft.ts";
import { tokenProblems } from "./token-problems.ts";

interface ChangeApiTokenProps {
  readonly organizationId: string;
  readonly shown: ShownApiToken;
  readonly onClose: () => void;
}

/** Changes a token's name, its permissions, its bound and its expiry. The secret stays. */
export function ChangeApiToken({ organizationId, shown, onClose }: ChangeApiTokenProps) {
  const words = texts.apiTokens;
  // The page may read the token again while the form is open. The change is still the difference from the token with which the form began.
  const [{ data: token, etag }] = useState(shown);
  const { tokenId } = token;
  const [draft, setDraft] = useState(() => draftOf(token));
  const [wasSent, setSent] = useState(false);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (change: ApiTokenChange) => updateApiToken({ organizationId, tokenId }, etag, change),
    onSuccess: async ({ name }) => {
      onClose();
      toast({ kind: "success", text: words.changed(name) });
      await queries.invalidateQueries({ queryKey: apiTokensQueryKey(organizationId) });
    },
    // If somebody else changed the token meanwhile, the page shows it as it is now.
    onError: () => void queries.invalidateQueries({ queryKey: apiTokensQueryKey(organizationId) }),
  });
  const problems = tokenProblems(save.error);
  const submit = () => {
    setSent(true);
    if (missingIn(draft) !== undefined) return;
    const change = changeOf(token, draft);
    if (change === undefined) onClose();
    else save.mutate(change);
  };
  return (
    <FormDialog
      onClose={onClose}
      title={words.changeTitle(token.name)}
      description={words.changeText}
      isWide
      action={words.changeAction}
      isBusy={save.isPending}
      error={problems.rest}
      onSubmit={submit}
    >
      <TokenFields {...{ organizationId, draft, wasSent, problems }} onChange={setDraft} present={token} />
    </FormDialog>
  );
}
