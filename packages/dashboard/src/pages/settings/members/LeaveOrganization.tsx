import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { leaveOrganization } from "../../../api/members.ts";
import { organizationsQuery } from "../../../api/organizations.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ConfirmDialog } from "../../../parts/dialogs/ConfirmDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";

export function LeaveOrganization({ organizationId }: { readonly organizationId: string }) {
  const words = texts.members;
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const leave = useMutation({
    mutationFn: () => leaveOrganization(organizationId),
    onSuccess: async () => {
      setOpen(false);
      toast({ kind: "success", text: words.left });
      await queries.fetchQuery({ ...organizationsQuery, staleTime: 0 });
      await navigate({ to: "/" });
      queries.removeQueries({ queryKey: ["organizations", organizationId] });
    },
  });
  const ask = () => {
    // The error of an earlier attempt must not be shown again.
    leave.reset();
    setOpen(true);
  };
  return (
    <>
      <div>
        <Button kind="danger" icon="out" onClick={ask}>
          {words.leave}
        </Button>
      </div>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={words.leaveTitle}
        description={words.leaveText}
        action={words.leave}
        isDanger
        isBusy={leave.isPending}
        error={leave.error}
        onConfirm={() => leave.mutate()}
      />
    </>
  );
}
