import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fieldProblems } from "../../../api/problem.ts";
import { createUserToken, userTokensQuery } from "../../../api/user-tokens.ts";
import { ExpiryChoice, type ExpiryDays, expiryIn } from "../../../parts/controls/ExpiryChoice.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { FormDialog } from "../../../parts/dialogs/FormDialog.tsx";
import { SecretDialog } from "../../../parts/dialogs/SecretDialog.tsx";
import { texts } from "../../../texts/texts.ts";

export function CreateUserToken({ onClose }: { readonly onClose: () => void }) {
  const words = texts.userTokens;
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState<ExpiryDays>("30");
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => createUserToken({ name: name.trim(), ...expiryIn(expiry) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: userTokensQuery.queryKey }),
  });
  const problems = fieldProblems(create.error, ["/name", "/expiresAt"]);
  if (create.data !== undefined) {
    return (
      <SecretDialog
        title={words.createdTitle(create.data.name)}
        text={texts.apiTokens.use}
        label={texts.apiTokens.token}
        secret={create.data.token}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      onClose={onClose}
      title={words.createTitle}
      description={words.createText}
      action={words.create}
      isBusy={create.isPending}
      error={problems.rest}
      onSubmit={() => create.mutate()}
    >
      <Field
        label={texts.apiTokens.name}
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={problems.at("/name")}
        required
        maxLength={256}
        autoComplete="off"
      />
      <ExpiryChoice value={expiry} onChange={setExpiry} problem={problems.at("/expiresAt")} />
    </FormDialog>
  );
}
