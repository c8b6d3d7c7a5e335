import { useEffect, useState } from "react";
import { texts } from "../../texts/texts.ts";
import { toast } from "../toasts.ts";
import { Button, type ButtonProps } from "./Button.tsx";

interface CopyButtonProps extends Omit<ButtonProps, "onClick" | "icon" | "children"> {
  /** The text to copy, or a function that makes it if making it takes a while. */
  readonly text: string | (() => string);
  /** The text of the button. If `isIconOnly` is true, it is only for screen readers. Default: "Copy". */
  readonly label?: string;
  readonly isIconOnly?: boolean;
  readonly onCopied?: () => void;
}

export function CopyButton(props: CopyButtonProps) {
  const { text, label = texts.parts.copy, isIconOnly = false, onCopied, ...rest } = props;
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    if (!(await copyText(typeof text === "string" ? text : text()))) {
      return toast({ kind: "failure", text: texts.parts.copyFailed });
    }
    setCopied(true);
    onCopied?.();
  };
  return (
    <Button kind="quiet" {...rest} icon={isCopied ? "check" : "copy"} onClick={() => void copy()}>
      <span className={isIconOnly ? "visually-hidden" : undefined} aria-live="polite">
        {isCopied ? texts.parts.copied : label}
      </span>
    </Button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
