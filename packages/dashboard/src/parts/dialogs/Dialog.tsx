import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useRef, useState } from "react";
import "./Dialog.css";
import { texts } from "../../texts/texts.ts";
import { classNames } from "../class-names.ts";
import { Button } from "../controls/Button.tsx";

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** A few sentences below the title. */
  readonly description?: ReactNode;
  readonly isWide?: boolean;
  /** True while the dialog's action runs. The dialog then cannot be closed, since the action may answer with a secret that is shown only once. */
  readonly isBusy?: boolean;
  readonly children?: ReactNode;
}

/**
 * A dialog over the page. The focus stays in the dialog until it is closed, and then goes back to where it was. Escape or a click beside the dialog
 * closes it. After the user has typed something in it, such a click does nothing, and Escape must be pressed twice. While its action runs, nothing
 * closes it.
 */
export function Dialog({ isOpen, onClose, title, description, isWide = false, isBusy = false, children }: DialogProps) {
  const opener = useRef<Element | null>(null);
  const isWritten = useRef(false);
  const [isAsking, setAsking] = useState(false);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && !isBusy && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="dialog-overlay" />
        <Radix.Content
          className={classNames("dialog", isWide && "dialog-wide")}
          onOpenAutoFocus={() => {
            opener.current = focusedElement();
            isWritten.current = false;
            setAsking(false);
          }}
          onInput={() => {
            isWritten.current = true;
            setAsking(false);
          }}
          onEscapeKeyDown={(event) => {
            if (isBusy || !isWritten.current || isAsking) return;
            event.preventDefault();
            setAsking(true);
          }}
          onPointerDownOutside={(event) => {
            if (isWritten.current) event.preventDefault();
          }}
          onCloseAutoFocus={(event) => {
            // The focus is given back here, because Radix gives it back only to its own triggers.
            event.preventDefault();
            focusAgain(opener.current);
          }}
          {...(description === undefined && { "aria-describedby": undefined })}
        >
          <header className="dialog-header">
            <Radix.Title>{title}</Radix.Title>
            <Radix.Close asChild>
              <Button kind="quiet" icon="cross" disabled={isBusy}>
                <span className="visually-hidden">{texts.parts.close}</span>
              </Button>
            </Radix.Close>
          </header>
          {description !== undefined && (
            <Radix.Description asChild>
              <div className="dialog-description">{description}</div>
            </Radix.Description>
          )}
          {children}
          <p className="dialog-asking" role="status">
            {isAsking && texts.parts.escapeAgain}
          </p>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Returns the element that has the focus. If the editor has it, `document.activeElement` is only the host of the editor's shadow tree. */
function focusedElement(): Element | null {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}

/** Gives the focus back to the element that opened the dialog. If that element is gone, gives it to the beginning of the page. */
function focusAgain(opener: Element | null): void {
  const target = opener?.isConnected === true ? opener : document.getElementById("content");
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
}
