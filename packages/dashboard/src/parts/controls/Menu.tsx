import { type ComponentType, cloneElement, useState } from "react";
import { texts } from "../../texts/texts.ts";
import { toast } from "../toasts.ts";
import type { MenuProps, OpenMenuProps } from "./menu-props.ts";

interface Opened {
  readonly OpenMenu: ComponentType<OpenMenuProps>;
  readonly isByKeyboard: boolean;
}

const loadOpenMenu = () => import("./OpenMenu.tsx");

/**
 * A list of commands or choices under a button. No page begins with an open menu, so the code of the list is loaded when the pointer or the focus
 * reaches the button.
 */
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
    // Enter and the space bar cause clicks without a pointer.
    onClick: (event) => void open(event.detail === 0),
    onKeyDown: (event) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      void open(true);
    },
  });
}
