import { type Invitation, invitationsQueryKey, revokeInvitation } from "../../../api/invitations.ts";
import { RemovalDialog } from "../../../parts/dialogs/RemovalDialog.tsx";
import { texts } from "../../../texts/texts.ts";

interface RevokeInvitationProps {
  readonly organizationId: string;
  readonly invitation: Invitation;
  readonly onClose: () => void;
}

export function RevokeInvitation({ organizationId, invitation, onClose }: RevokeInvitationProps) {
  const words = texts.invitations;
  return (
    <RemovalDialog
      onClose={onClose}
      title={words.revokeTitle}
      description={words.revokeText}
      action={words.revoke}
      remove={() => revokeInvitation(organizationId, invitation.invitationId)}
      removed={words.revoked}
      queryKey={invitationsQueryKey(organizationId)}
    />
  );
}
