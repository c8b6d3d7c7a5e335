import { deleteRole, type Role, rolesQueryKey } from "../../../api/roles.ts";
import { RemovalDialog } from "../../../parts/dialogs/RemovalDialog.tsx";
import { texts } from "../../../texts/texts.ts";

interface DeleteRoleProps {
  readonly organizationId: string;
  readonly role: Role;
  readonly onClose: () => void;
}

export function DeleteRole({ organizationId, role: { name }, onClose }: DeleteRoleProps) {
  const words = texts.roles;
  return (
    <RemovalDialog
      onClose={onClose}
      title={words.removeTitle(name)}
      description={words.removeText}
      action={words.remove}
      remove={() => deleteRole(organizationId, name)}
      removed={words.removed(name)}
      queryKey={rolesQueryKey(organizationId)}
    />
  );
}
