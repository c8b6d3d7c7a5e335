import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Account, accountQueryKey } from "../../../api/account.ts";
import { fieldProblems } from "../../../api/problem.ts";
import { createUserToken, userTokensQuery } from "../../../api/user-tokens.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ExpiryChoice, type ExpiryDays, expiryIn } from "../../../parts/controls/ExpiryChoice.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { FormDialog } from "../../../parts/dialogs/FormDialog.tsx";
import { SecretDialog } from "../../../parts/dialogs/SecretDialog.tsx";
import { session } from "../../../session/session.ts";
import { texts } from "../../../texts/texts.ts";
import { emptyProof, ProofFields, proofPointers } from "./ProofFields.tsx";

interface CreateUserTokenProps {
  readonly account: Account;
  readonly onClose: () => void;
}

/** Asks what the token is for and how long it is valid, and lets the person confirm who they are. */
export function CreateUserToken({ account, onClose }: CreateUserTokenProps) {
  const words = texts.userTokens;
  const asksCode = account.hasPassword && account.secondFactorEnabledAt !== undefined;
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState<ExpiryDays>("90");
  const [proof, setProof] = useState(emptyProof);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      createUserToken({
        name: name.trim(),
        ...expiryIn(expiry),
        ...(account.hasPassword && { password: proof.password }),
        ...(asksCode && { code: proof.code.trim() }),
      }),
    // The secret is shown at once, without waiting for the new list.
    onSuccess: () => void queries.invalidateQueries({ queryKey: userTokensQuery.queryKey }),
    // A second factor or a password may have been set elsewhere while the form was open. When the account is read again, the form asks for this
    // proof.
    onError: () => queries.invalidateQueries({ queryKey: accountQueryKey }),
  });
  const problems = fieldProblems(create.error, [
    "/name",
    "/expiresAt",
    ...(account.hasPassword ? proofPointers(asksCode) : []),
  ]);
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
      {account.hasPassword ? (
        <ProofFields proof={proof} onChange={setProof} problems={problems} asksCode={asksCode} />
      ) : (
        <>
          <p>{words.freshSignIn}</p>
          <Button onClick={() => void session.signIn({ asksAgain: true })}>{words.signInAgain}</Button>
        </>
      )}
    </FormDialog>
  );
}
