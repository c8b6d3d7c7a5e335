import { type ComponentType, cloneElement, type ReactElement, type ReactNode, useState } from "react";
import { texts } from "../../texts/texts.ts";
import { toast } from "../states/toasts.ts";
import type { ButtonProps } from "./Button.tsx";

export interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<ButtonProps>;
  readonly align?: "start" | "end";
  readonly entries: readonly MenuEntry[];
}

export type MenuEntry =
  | { readonly kind: "command"; readonly content: ReactNode; readonly run: () => void }
  /** A link: it can be opened in another tab. */
  | { readonly kind: "link"; readonly link: ReactElement }
  | MenuChoices
  | { readonly kind: "label"; readonly content: ReactNode }
  | { readonly kind: "separator" };

/** One of them holds. */
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

interface Opened {
  readonly OpenMenu: ComponentType<OpenMenuProps>;
  readonly isByKeyboard: boolean;
}

const loadOpenMenu = () => import("./OpenMenu.tsx");

/** A list of commands or choices under a button. What draws it is loaded when somebody comes near the button: no page begins with an open one. */
export function Menu(props: MenuProps) {
  const [opened, setOpened] = useState<Opened | undefined>();
  if (opened !== undefined) return <opened.OpenMenu {...props} isByKeyboard={opened.isByKeyboard} />;
  const prepare = () => void loadOpenMenu().catch(() => undefined);
  const open = async (isByKeyboard: boolean) => {
    try {
      const { OpenMenu } = await loadOpenMenu();
      setOpened({ OpenMenu, isByKeyboard });
    } catch {
      toast({ kind: "failure", text: texts.parts.menuFailed });
    }
  };
  return cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: prepare,
    onFocus: prepare,
    // Enter and the space bar are clicks without a pointer.
    onClick: (event) => void open(event.detail === 0),
    onKeyDown: (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      void open(true);
    },
  });
}
