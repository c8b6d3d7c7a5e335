import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { memberQuery, membersQueryKey, removeMember } from "../../../api/members.ts";
import { usePermission } from "../../../api/permissions.ts";
import { CheckBox } from "../../../parts/controls/CheckBox.tsx";
import { RemovalDialog } from "../../../parts/dialogs/RemovalDialog.tsx";
import { texts } from "../../../texts/texts.ts";
import type { MemberDialogProps } from "./ChangeRoles.tsx";

/**
 * Removes a member, and offers to revoke the API tokens that the member made, which would continue to work otherwise. The member can be removed only
 * after the request for the number of these tokens has succeeded or failed.
 */
export function RemoveMember({ organizationId, member: { userId, displayName }, onClose }: MemberDialogProps) {
  const words = texts.members;
  const [revokeApiTokens, setRevoke] = useState(false);
  const key = { organizationId, userId };
  const { data: { apiTokenCount } = {}, isPending, isError } = useQuery(memberQuery(key));
  const mayRevoke = usePermission(organizationId, "apitoken:revoke");
  return (
    <RemovalDialog
      onClose={onClose}
      title={words.removeTitle(displayName)}
      description={words.removeText}
      action={words.remove}
      remove={() => removeMember(key, { revokeApiTokens })}
      removed={words.removed(displayName)}
      queryKey={membersQueryKey(organizationId)}
      isLoading={isPending}
    >
      {isPending && <p className="soft">{words.countingTokens}</p>}
      {(isError || (apiTokenCount !== undefined && apiTokenCount > 0)) && (
        <CheckBox
          label={words.revokeTokens(apiTokenCount)}
          hint={mayRevoke ? words.revokeTokensHint : words.revokeTokensDenied}
          disabled={!mayRevoke}
          checked={revokeApiTokens}
          onChange={(event) => setRevoke(event.target.checked)}
        />
      )}
    </RemovalDialog>
  );
}
