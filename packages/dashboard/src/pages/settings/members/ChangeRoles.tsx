import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Member, membersQueryKey, updateMember } from "../../../api/members.ts";
import { fieldProblems } from "../../../api/problem.ts";
import { ConfirmDialog } from "../../../parts/dialogs/ConfirmDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";
import { RolePicker } from "../RolePicker.tsx";

export interface MemberDialogProps {
  readonly organizationId: string;
  readonly member: Member;
  readonly onClose: () => void;
}

export function ChangeRoles({ organizationId, member, onClose }: MemberDialogProps) {
  const words = texts.members;
  const { displayName } = member;
  const [roles, setRoles] = useState<readonly string[]>(member.roles);
  const [isMissing, setMissing] = useState(false);
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () => updateMember(organizationId, member, roles),
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: words.changed(displayName) });
      // If members changed their own roles, they may have other permissions now.
      await queries.invalidateQueries({ queryKey: ["organizations", organizationId] });
      await queries.invalidateQueries({ queryKey: membersQueryKey(organizationId) });
    },
    // If somebody else changed the roles meanwhile, the list shows them as they are now.
    onError: () => void queries.invalidateQueries({ queryKey: membersQueryKey(organizationId) }),
  });
  const problems = fieldProblems(change.error, ["/roles"]);
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={words.changeTitle(displayName)}
      description={words.changeText}
      action={words.changeAction}
      isBusy={change.isPending}
      error={problems.rest}
      onConfirm={() => (roles.length === 0 ? setMissing(true) : change.mutate())}
    >
      <RolePicker
        organizationId={organizationId}
        value={roles}
        onChange={setRoles}
        problem={isMissing && roles.length === 0 ? words.chooseRole : problems.at("/roles")}
      />
    </ConfirmDialog>
  );
}
