import { useState } from "react";
import "./SessionEnded.css";
import { Button } from "../parts/controls/Button.tsx";
import { Dialog } from "../parts/dialogs/Dialog.tsx";
import { session } from "../session/session.ts";
import { texts } from "../texts/texts.ts";

/** A dialog over the page. The page stays as it is, since the user may have typed something in it. */
export function SessionEnded() {
  const [isOpen, setOpen] = useState(true);
  const { shell } = texts;
  const signIn = (
    <Button kind="main" onClick={() => void session.signIn()}>
      {shell.signInAgain}
    </Button>
  );
  // A reader who closed the dialog, to save typed text elsewhere, must still find a way to sign in again.
  if (!isOpen) {
    return (
      <aside className="session-ended" aria-label={shell.sessionEndedTitle}>
        {shell.sessionEndedTitle}
        {signIn}
      </aside>
    );
  }
  return (
    <Dialog isOpen onClose={() => setOpen(false)} title={shell.sessionEndedTitle} description={shell.sessionEnded}>
      <div className="dialog-actions">
        <Button onClick={() => setOpen(false)}>{shell.stayHere}</Button>
        {signIn}
      </div>
    </Dialog>
  );
}
