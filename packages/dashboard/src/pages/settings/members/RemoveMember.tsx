import { membersQueryKey, removeMember } from "../../../api/members.ts";
import { RemovalDialog } from "../../../parts/dialogs/RemovalDialog.tsx";
import { texts } from "../../../texts/texts.ts";
import type { MemberDialogProps } from "./ChangeRoles.tsx";

export function RemoveMember({ organizationId, member: { userId, displayName }, onClose }: MemberDialogProps) {
  const words = texts.members;
  return (
    <RemovalDialog
      onClose={onClose}
      title={words.removeTitle(displayName)}
      description={words.removeText}
      action={words.remove}
      remove={() => removeMember({ organizationId, userId })}
      removed={words.removed(displayName)}
      queryKey={membersQueryKey(organizationId)}
    />
  );
}
