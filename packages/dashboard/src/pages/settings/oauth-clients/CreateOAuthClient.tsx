import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createOAuthClient, oauthClientsQueryKey } from "../../../api/oauth-clients.ts";
import { fieldProblems } from "../../../api/problem.ts";
import { Field, TextArea } from "../../../parts/controls/Field.tsx";
import { FormDialog } from "../../../parts/dialogs/FormDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";

interface CreateOAuthClientProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

export function CreateOAuthClient({ organizationId, onClose }: CreateOAuthClientProps) {
  const words = texts.oauthClients;
  const [name, setName] = useState("");
  const [redirectUris, setRedirectUris] = useState("");
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => createOAuthClient(organizationId, { name: name.trim(), redirectUris: linesOf(redirectUris) }),
    onSuccess: async (client) => {
      onClose();
      toast({ kind: "success", text: words.createdToast(client.name) });
      await queries.invalidateQueries({ queryKey: oauthClientsQueryKey(organizationId) });
    },
  });
  const problems = fieldProblems(create.error, ["/name", "/redirectUris"]);
  return (
    <FormDialog
      onClose={onClose}
      title={words.createTitle}
      description={words.createText}
      action={words.createAction}
      isBusy={create.isPending}
      error={problems.rest}
      onSubmit={() => create.mutate()}
    >
      <Field
        label={words.name}
        hint={words.nameHint}
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={problems.at("/name")}
        autoComplete="off"
        required
      />
      <TextArea
        label={words.redirectUris}
        hint={words.redirectUrisHint}
        value={redirectUris}
        onChange={(event) => setRedirectUris(event.target.value)}
        problem={problems.at("/redirectUris")}
        spellCheck={false}
        required
      />
    </FormDialog>
  );
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
