import type { ButtonHTMLAttributes, KeyboardEvent, MouseEvent, Ref } from "react";
import "./Button.css";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../layout/Icon.tsx";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: "main" | "normal" | "quiet" | "danger";
  readonly icon?: IconName;
  /** True while the button's action runs or cannot run yet. The button then shows a spinner and ignores clicks. */
  readonly isBusy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

/**
 * A button that changes something (`main` and `danger`) ignores the second click of a double click, and a key that is held down: the answer to the
 * first click may come before the second click, and another button may then be at this place. Other buttons, such as those that zoom, may be clicked
 * fast.
 */
export function Button({
  kind = "normal",
  icon,
  isBusy = false,
  className,
  children,
  onClick,
  onKeyDown,
  ...rest
}: ButtonProps) {
  const isOnce = kind === "main" || kind === "danger";
  const click = (event: MouseEvent<HTMLButtonElement>) => {
    if (isBusy || (isOnce && event.detail > 1)) event.preventDefault();
    else onClick?.(event);
  };
  const keyDown = (event: KeyboardEvent<HTMLButtonElement>) => {
    if (isOnce && event.repeat && event.key === "Enter") event.preventDefault();
    onKeyDown?.(event);
  };
  return (
    <button
      type="button"
      {...rest}
      className={classNames("button", `button-${kind}`, className)}
      // The button is not `disabled`, since that would take the focus away from it.
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={click}
      onKeyDown={keyDown}
    >
      {isBusy ? <span className="spinner" aria-hidden="true" /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
