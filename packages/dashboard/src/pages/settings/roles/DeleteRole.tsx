import { useMutation, useQueryClient } from "@tanstack/react-query";
import { deleteRole, type Role, rolesQueryKey } from "../../../api/roles.ts";
import { ConfirmDialog } from "../../../parts/ConfirmDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";

interface DeleteRoleProps {
  readonly organizationId: string;
  readonly role: Role;
  readonly onClose: () => void;
}

export function DeleteRole({ organizationId, role: { name }, onClose }: DeleteRoleProps) {
  const words = texts.roles;
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteRole(organizationId, name),
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: words.removed(name) });
      await queries.invalidateQueries({ queryKey: rolesQueryKey(organizationId) });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.removeTitle(name)}
      description={words.removeText}
      action={words.remove}
      isDanger
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    />
  );
}
