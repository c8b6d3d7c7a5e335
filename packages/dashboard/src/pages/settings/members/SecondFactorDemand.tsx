import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { organizationQuery, organizationQueryKey, updateOrganization } from "../../../api/organizations.ts";
import { usePermission } from "../../../api/permissions.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ConfirmDialog } from "../../../parts/dialogs/ConfirmDialog.tsx";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";

/**
 * Says whether members of this organization need a second factor. People with the permission can change this. Shows nothing until the answer is
 * known.
 */
export function SecondFactorDemand({ organizationId }: { readonly organizationId: string }) {
  const words = texts.secondFactorDemand;
  const [isOpen, setOpen] = useState(false);
  const mayRead = usePermission(organizationId, "organization:read");
  const { data } = useQuery({ ...organizationQuery(organizationId), enabled: mayRead });
  const mayUpdate = usePermission(organizationId, "organization:update");
  const queries = useQueryClient();
  const isOn = data?.requiresSecondFactor ?? false;
  const change = useMutation({
    mutationFn: () => updateOrganization(organizationId, { requiresSecondFactor: !isOn }),
    onSuccess: async () => {
      setOpen(false);
      toast({ kind: "success", text: isOn ? words.turnedOff : words.turnedOn });
      await queries.invalidateQueries({ queryKey: organizationQueryKey(organizationId) });
    },
  });
  if (data === undefined) return null;
  const act = isOn ? words.turnOff : words.turnOn;
  const open = () => {
    // The error of an earlier attempt must not be shown again.
    change.reset();
    setOpen(true);
  };
  return (
    <Panel title={words.title} actions={mayUpdate && <Button onClick={open}>{act}</Button>}>
      <p>{isOn ? words.on : words.off}</p>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={isOn ? words.turnOffTitle : words.turnOnTitle}
        description={isOn ? words.turnOffText : words.turnOnText}
        action={act}
        isBusy={change.isPending}
        error={change.error}
        onConfirm={() => change.mutate()}
      />
    </Panel>
  );
}
