import type { ReactElement, ReactNode } from "react";
import type { ButtonProps } from "./Button.tsx";

export interface MenuProps {
  /** The button that opens the menu. */
  readonly trigger: ReactElement<ButtonProps>;
  readonly align?: "start" | "end";
  readonly entries: readonly MenuEntry[];
}

export type MenuEntry =
  | { readonly kind: "command"; readonly content: ReactNode; readonly run: () => void }
  /** A link, which can also be opened in another tab. */
  | { readonly kind: "link"; readonly link: ReactElement }
  | MenuChoices
  | { readonly kind: "label"; readonly content: ReactNode }
  | { readonly kind: "separator" };

export interface MenuChoices {
  readonly kind: "choices";
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}

export interface OpenMenuProps extends MenuProps {
  readonly isByKeyboard: boolean;
}
