import { DropdownMenu as Radix } from "radix-ui";
import { type FocusEvent, useRef } from "react";
import "./Menu.css";
import { Icon } from "../layout/Icon.tsx";
import type { MenuChoices, MenuEntry, OpenMenuProps } from "./menu-props.ts";

/** Takes the place of `Menu` when the menu is first opened, and handles the keys that people expect of menus. */
export function OpenMenu({ trigger, align = "end", entries, isByKeyboard }: OpenMenuProps) {
  const isFirst = useRef(isByKeyboard);
  // If a key opened the menu the first time, Radix was not on the page yet and did not see the key. So the focus is moved to the first entry here.
  const onFocus = ({ target, currentTarget }: FocusEvent<HTMLElement>) => {
    if (!isFirst.current || target !== currentTarget) return;
    isFirst.current = false;
    currentTarget.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
  };
  return (
    <Radix.Root modal={false} defaultOpen>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align={align} sideOffset={6} collisionPadding={8} onFocus={onFocus}>
          {entries.map((entry, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: entries have no other name
            <Entry key={index} entry={entry} />
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Entry({ entry }: { readonly entry: MenuEntry }) {
  switch (entry.kind) {
    case "command":
      return (
        <Radix.Item className="menu-item" onSelect={entry.run}>
          {entry.content}
        </Radix.Item>
      );
    case "link":
      return (
        <Radix.Item className="menu-item" asChild>
          {entry.link}
        </Radix.Item>
      );
    case "choices":
      return <Choices {...entry} />;
    case "label":
      return <Radix.Label className="menu-label">{entry.content}</Radix.Label>;
    case "separator":
      return <Radix.Separator className="menu-separator" />;
  }
}

function Choices({ label, value, choices, onChoose }: MenuChoices) {
  return (
    <>
      <Radix.Label className="menu-label">{label}</Radix.Label>
      <Radix.RadioGroup value={value ?? ""} onValueChange={onChoose}>
        {choices.map(([choice, text]) => (
          <Radix.RadioItem key={choice} className="menu-item menu-choice" value={choice}>
            <Radix.ItemIndicator>
              <Icon name="check" />
            </Radix.ItemIndicator>
            {text}
          </Radix.RadioItem>
        ))}
      </Radix.RadioGroup>
    </>
  );
}
