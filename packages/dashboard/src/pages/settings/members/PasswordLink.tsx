import { useMutation } from "@tanstack/react-query";
import { createPasswordLink } from "../../../api/members.ts";
import { ConfirmDialog } from "../../../parts/dialogs/ConfirmDialog.tsx";
import { SecretDialog } from "../../../parts/dialogs/SecretDialog.tsx";
import { texts } from "../../../texts/texts.ts";
import type { MemberDialogProps } from "./ChangeRoles.tsx";

/** Makes a link for a member who forgot their password, and shows it once. */
export function PasswordLink({ organizationId, member: { userId, displayName }, onClose }: MemberDialogProps) {
  const words = texts.members;
  const make = useMutation({ mutationFn: () => createPasswordLink({ organizationId, userId }) });
  if (make.data !== undefined) {
    return (
      <SecretDialog
        title={words.passwordLinkMade(displayName)}
        text={words.passwordLinkUse}
        label={words.link}
        secret={make.data.link}
        onClose={onClose}
      />
    );
  }
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.passwordLinkTitle(displayName)}
      description={words.passwordLinkText}
      action={words.passwordLinkAction}
      isBusy={make.isPending}
      error={make.error}
      onConfirm={() => make.mutate()}
    />
  );
}
