import type { ReactNode } from "react";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { Problem } from "../states/Problem.tsx";
import { Dialog } from "./Dialog.tsx";

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Says what is different after the action. */
  readonly description: ReactNode;
  /** The text of the button: a verb, never "OK". */
  readonly action: string;
  readonly isDanger?: boolean;
  readonly isWide?: boolean;
  readonly isBusy: boolean;
  /** True until `children` can be shown. Until then, the action cannot be confirmed. */
  readonly isLoading?: boolean;
  readonly error?: unknown;
  readonly onConfirm: () => void;
  readonly children?: ReactNode;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    isOpen,
    onClose,
    title,
    description,
    action,
    isDanger = false,
    isWide = false,
    isBusy,
    isLoading = false,
    error,
    onConfirm,
  } = props;
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title} description={description} isWide={isWide} isBusy={isBusy}>
      {props.children}
      {error !== undefined && error !== null && <Problem error={error} />}
      <div className="dialog-actions">
        <Button onClick={onClose} disabled={isBusy}>
          {texts.parts.cancel}
        </Button>
        <Button kind={isDanger ? "danger" : "main"} isBusy={isBusy || isLoading} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
