import type { ReactNode } from "react";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { useProblemFocus } from "../controls/focus-problem.ts";
import { Problem } from "../states/Problem.tsx";
import { Dialog } from "./Dialog.tsx";

interface FormDialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly description: string;
  readonly isWide?: boolean;
  /** The text of the button: a verb, never "OK". */
  readonly action: string;
  readonly isBusy: boolean;
  /** The error of the last attempt, except for problems that a field shows. */
  readonly error: unknown;
  readonly onSubmit: () => void;
  /** The fields. */
  readonly children: ReactNode;
}

/** Asks for the values of a new thing, or for new values of an existing one. */
export function FormDialog(props: FormDialogProps) {
  const { onClose, title, description, isWide = false, action, isBusy, error, onSubmit, children } = props;
  const form = useProblemFocus(isBusy);
  return (
    <Dialog isOpen onClose={onClose} title={title} description={description} isWide={isWide} isBusy={isBusy}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        {error !== undefined && error !== null && <Problem error={error} />}
        <div className="dialog-actions">
          <Button onClick={onClose} disabled={isBusy}>
            {texts.parts.cancel}
          </Button>
          <Button type="submit" kind="main" isBusy={isBusy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
