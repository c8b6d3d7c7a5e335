import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fieldProblems } from "../../../api/problem.ts";
import { createRole, type Role, rolesQueryKey, updateRole } from "../../../api/roles.ts";
import { useOnce } from "../../../api/use-once.ts";
import type { GrantablePermission } from "../../../document.ts";
import { Field } from "../../../parts/controls/Field.tsx";
import { FormDialog } from "../../../parts/dialogs/FormDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";
import { PermissionPicker } from "../PermissionPicker.tsx";

interface RoleDialogProps {
  readonly organizationId: string;
  /** The role to change. If it is left out, a new role is made. */
  readonly role?: Role;
  readonly onClose: () => void;
}

export function RoleDialog({ organizationId, role, onClose }: RoleDialogProps) {
  const words = texts.roles;
  const [name, setName] = useState(role?.name ?? "");
  const [description, setDescription] = useState(role?.description ?? "");
  const [permissions, setPermissions] = useState((role?.permissions ?? []) as GrantablePermission[]);
  const queries = useQueryClient();
  const once = useOnce();
  const save = useMutation({
    mutationFn: () => {
      const wish = { name, description, permissions };
      if (role !== undefined) return updateRole(organizationId, role, wish);
      return once(wish, (header) => createRole(organizationId, header, wish));
    },
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: role === undefined ? words.created(name) : words.changed(name) });
      // The role may be one of the reader's own, so the reader may have other permissions now.
      await queries.invalidateQueries({ queryKey: ["organizations", organizationId] });
    },
    // If somebody else changed the role meanwhile, the list shows it as it is now.
    onError: () => void queries.invalidateQueries({ queryKey: rolesQueryKey(organizationId) }),
  });
  const problems = fieldProblems(save.error, ["/name", "/description", "/permissions"]);
  return (
    <FormDialog
      isWide
      onClose={onClose}
      title={role === undefined ? words.createTitle : words.changeTitle(role.name)}
      description={role === undefined ? words.createText : words.changeText}
      action={role === undefined ? words.create : words.changeAction}
      isBusy={save.isPending}
      error={problems.rest}
      onSubmit={() => save.mutate()}
    >
      <Field
        label={words.name}
        hint={role === undefined ? words.nameHint : words.newNameHint}
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={problems.at("/name")}
        required
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label={words.description}
        hint={words.descriptionHint}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
        problem={problems.at("/description")}
        autoComplete="off"
      />
      <PermissionPicker
        organizationId={organizationId}
        value={permissions}
        onChange={setPermissions}
        problem={problems.at("/permissions")}
      />
    </FormDialog>
  );
}
