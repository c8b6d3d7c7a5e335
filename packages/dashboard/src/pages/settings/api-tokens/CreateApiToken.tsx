import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiTokensQueryKey, createApiToken } from "../../../api/api-tokens.ts";
import type { GrantablePermission } from "../../../api/permissions.ts";
import { fieldProblems } from "../../../api/problem.ts";
import { Button } from "../../../parts/Button.tsx";
import { Dialog } from "../../../parts/Dialog.tsx";
import { ExpiryChoice, type ExpiryDays, expiryIn } from "../../../parts/ExpiryChoice.tsx";
import { Field } from "../../../parts/Field.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { SecretDialog } from "../../../parts/SecretDialog.tsx";
import { texts } from "../../../texts/texts.ts";
import { PermissionPicker } from "../PermissionPicker.tsx";

interface CreateApiTokenProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

/** Asks what the token is for and what it may do, then shows it once. */
export function CreateApiToken({ organizationId, onClose }: CreateApiTokenProps) {
  const words = texts.apiTokens;
  const [name, setName] = useState("");
  const [permissions, setPermissions] = useState<GrantablePermission[]>([]);
  const [expiry, setExpiry] = useState<ExpiryDays>("90");
  const [isMissing, setMissing] = useState(false);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => createApiToken(organizationId, { name: name.trim(), permissions, ...expiryIn(expiry) }),
    onSuccess: () => queries.invalidateQueries({ queryKey: apiTokensQueryKey(organizationId) }),
  });
  const problems = fieldProblems(create.error, ["/name", "/permissions", "/expiresAt"]);
  if (create.data !== undefined) {
    return (
      <SecretDialog
        title={words.createdTitle(create.data.name)}
        text={words.use}
        label={words.token}
        secret={create.data.token}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog isOpen onClose={onClose} title={words.createTitle} description={words.createText} isWide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setMissing(permissions.length === 0);
          if (permissions.length > 0) create.mutate();
        }}
      >
        <Field
          label={words.name}
          hint={words.nameHint}
          value={name}
          onChange={(event) => setName(event.target.value)}
          problem={problems.at("/name")}
          required
          maxLength={256}
          autoComplete="off"
        />
        <ExpiryChoice value={expiry} onChange={setExpiry} problem={problems.at("/expiresAt")} />
        <PermissionPicker
          organizationId={organizationId}
          value={permissions}
          onChange={setPermissions}
          problem={isMissing && permissions.length === 0 ? words.choosePermission : problems.at("/permissions")}
        />
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
