import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Invitation, invitationsQueryKey, revokeInvitation } from "../../../api/invitations.ts";
import { ConfirmDialog } from "../../../parts/ConfirmDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";

interface RevokeInvitationProps {
  readonly organizationId: string;
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

export function RevokeInvitation({ organizationId, invitation, onClose }: RevokeInvitationProps) {
  const words = texts.invitations;
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeInvitation(organizationId, invitation.invitationId),
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: words.revoked });
      await queries.invalidateQueries({ queryKey: invitationsQueryKey(organizationId) });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.revokeTitle}
      description={words.revokeText}
      action={words.revoke}
      isDanger
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
    />
  );
}
