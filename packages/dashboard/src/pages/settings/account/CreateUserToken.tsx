import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fieldProblems } from "../../../api/problem.ts";
import { createUserToken, userTokensQuery } from "../../../api/user-tokens.ts";
import { Button } from "../../../parts/Button.tsx";
import { Dialog } from "../../../parts/Dialog.tsx";
import { ExpiryChoice, type ExpiryDays, expiryIn } from "../../../parts/ExpiryChoice.tsx";
import { Field } from "../../../parts/Field.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { SecretDialog } from "../../../parts/SecretDialog.tsx";
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
    <Dialog isOpen onClose={onClose} title={words.createTitle} description={words.createText}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
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
        {problems.rest !== undefined && <Problem error={problems.rest} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{texts.parts.cancel}</Button>
          <Button type="submit" kind="main" isBusy={create.isPending}>
            {words.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
