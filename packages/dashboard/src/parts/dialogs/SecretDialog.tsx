import { type ReactNode, useState } from "react";
import "./SecretDialog.css";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { CopyButton } from "../controls/CopyButton.tsx";
import { Icon } from "../layout/Icon.tsx";
import { Dialog } from "./Dialog.tsx";

interface SecretDialogProps {
  readonly title: string;
  /** A sentence that describes the purpose and the use of the secret. */
  readonly text: ReactNode;
  /** The name of the secret. */
  readonly label: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a secret once. If the secret was not copied, the dialog asks for confirmation before it closes. */
export function SecretDialog({ title, text, label, secret, onClose }: SecretDialogProps) {
  const words = texts.secret;
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const close = () => (isCopied || isAsking ? onClose() : setAsking(true));
  return (
    <Dialog isOpen onClose={close} title={title} description={text}>
      <p className="secret-once">
        <Icon name="alert" />
        {words.once}
      </p>
      <div className="secret">
        <section aria-label={label}>
          <pre>{secret}</pre>
        </section>
        <CopyButton text={secret} kind="main" onCopied={() => setCopied(true)} />
      </div>
      <p role="status">{isAsking && !isCopied && words.notCopied}</p>
      <div className="dialog-actions">
        <Button onClick={close}>{isAsking && !isCopied ? words.closeAnyway : words.done}</Button>
      </div>
    </Dialog>
  );
}
