import { useMutation, useQueryClient } from "@tanstack/react-query";
import { membersQueryKey, removeMember } from "../../../api/members.ts";
import { ConfirmDialog } from "../../../parts/ConfirmDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";
import type { MemberDialogProps } from "./ChangeRoles.tsx";

export function RemoveMember({ organizationId, member: { userId, displayName }, onClose }: MemberDialogProps) {
  const words = texts.members;
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => removeMember({ organizationId, userId }),
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: words.removed(displayName) });
      await queries.invalidateQueries({ queryKey: membersQueryKey(organizationId) });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.removeTitle(displayName)}
      description={words.removeText}
      action={words.remove}
      isDanger
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    />
  );
}
