import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createInvitation, invitationsQueryKey } from "../../../api/invitations.ts";
import { fieldProblems } from "../../../api/problem.ts";
import { Choice, Field } from "../../../parts/controls/Field.tsx";
import { FormDialog } from "../../../parts/dialogs/FormDialog.tsx";
import { SecretDialog } from "../../../parts/dialogs/SecretDialog.tsx";
import { texts } from "../../../texts/texts.ts";
import { RolePicker } from "../RolePicker.tsx";

interface CreateInvitationProps {
  readonly organizationId: string;
  readonly onClose: () => void;
}

/** The choices in days. The last choice is the longest time that the service allows by default (`STEPWELL_MAX_INVITATION_DAYS`). */
const lives = [1, 7, 30];

/** Makes a link for one person, and shows it once. */
export function CreateInvitation({ organizationId, onClose }: CreateInvitationProps) {
  const words = texts.invitations;
  const [email, setEmail] = useState("");
  const [roles, setRoles] = useState<string[]>([]);
  const [days, setDays] = useState(7);
  const [isMissing, setMissing] = useState(false);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => createInvitation(organizationId, { roles, ...addressed(email), expiresAt: expiryIn(days) }),
    // The secret is shown at once, without waiting for the new list.
    onSuccess: () => void queries.invalidateQueries({ queryKey: invitationsQueryKey(organizationId) }),
  });
  const problems = fieldProblems(create.error, ["/email", "/roles", "/expiresAt"]);
  if (create.data !== undefined) {
    const { link } = create.data;
    return (
      <SecretDialog title={words.createdTitle} text={words.use} label={words.link} secret={link} onClose={onClose} />
    );
  }
  return (
    <FormDialog
      onClose={onClose}
      title={words.createTitle}
      description={words.createText}
      action={words.createAction}
      isBusy={create.isPending}
      error={problems.rest}
      onSubmit={() => {
        setMissing(roles.length === 0);
        if (roles.length > 0) create.mutate();
      }}
    >
      <Field
        label={words.email}
        hint={words.emailHint}
        type="email"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        problem={problems.at("/email")}
        autoComplete="off"
      />
      <RolePicker
        organizationId={organizationId}
        value={roles}
        onChange={setRoles}
        problem={isMissing && roles.length === 0 ? texts.members.chooseRole : problems.at("/roles")}
      />
      <Choice
        label={words.days}
        value={days}
        onChange={(event) => setDays(Number(event.target.value))}
        problem={problems.at("/expiresAt")}
      >
        {lives.map((life) => (
          <option key={life} value={life}>
            {texts.expiry.inDays(life)}
          </option>
        ))}
      </Choice>
    </FormDialog>
  );
}

function addressed(email: string): { readonly email?: string } {
  const address = email.trim();
  return address === "" ? {} : { email: address };
}

/** The time is a minute earlier than chosen, so that the service does not refuse the longest choice if this machine's clock is a little fast. */
function expiryIn(days: number): string {
  return new Date(Date.now() + days * 86_400_000 - 60_000).toISOString();
}
