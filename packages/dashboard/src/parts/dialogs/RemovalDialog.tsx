import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "../toasts.ts";
import { ConfirmDialog } from "./ConfirmDialog.tsx";

interface RemovalDialogProps {
  readonly onClose: () => void;
  readonly title: string;
  /** Says what is different after the removal. */
  readonly description: string;
  /** The button's text: a verb. */
  readonly action: string;
  readonly remove: () => Promise<void>;
  /** The words that are shown after the removal. */
  readonly removed: string;
  /** The key of the lists that contained the removed thing. */
  readonly queryKey: QueryKey;
  readonly onRemoved?: () => void;
  /** True until `children` can be shown. Nothing is removed before the reader has seen all choices. */
  readonly isLoading?: boolean;
  /** Further choices, shown below the description. */
  readonly children?: ReactNode;
}

/** Asks before something is removed for good, removes it, and says so. */
export function RemovalDialog(props: RemovalDialogProps) {
  const {
    onClose,
    title,
    description,
    action,
    remove,
    removed,
    queryKey,
    onRemoved,
    isLoading = false,
    children,
  } = props;
  const queries = useQueryClient();
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: async () => {
      onClose();
      toast({ kind: "success", text: removed });
      onRemoved?.();
      await queries.invalidateQueries({ queryKey });
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={title}
      description={description}
      action={action}
      isDanger
      isBusy={removal.isPending}
      isLoading={isLoading}
      error={removal.error}
      onConfirm={() => removal.mutate()}
    >
      {children}
    </ConfirmDialog>
  );
}
