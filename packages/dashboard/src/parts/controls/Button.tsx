import type { ButtonHTMLAttributes, Ref } from "react";
import "./Button.css";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../layout/Icon.tsx";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: "main" | "normal" | "quiet" | "danger";
  readonly icon?: IconName;
  /** True while the button's action runs. The button then says so and ignores further clicks. */
  readonly isBusy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ kind = "normal", icon, isBusy = false, className, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={classNames("button", `button-${kind}`, className)}
      // The button is not `disabled`, since that would take the focus away from it.
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    >
      {isBusy ? <span className="spinner" aria-hidden="true" /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
