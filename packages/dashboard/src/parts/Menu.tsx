import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import "./Menu.css";
import { Icon } from "./Icon.tsx";

interface MenuProps {
  /** The button that opens it; Radix makes it one. */
  readonly trigger: ReactNode;
  readonly align?: "start" | "end";
  readonly children: ReactNode;
}

/** A list of commands or choices under a button, with the keys that people expect of menus. */
export function Menu({ trigger, align = "end", children }: MenuProps) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align={align} sideOffset={6} collisionPadding={8}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({ onSelect, children }: { readonly onSelect: () => void; readonly children: ReactNode }) {
  return (
    <Radix.Item className="menu-item" onSelect={onSelect}>
      {children}
    </Radix.Item>
  );
}

/** An item that is a link: it can be opened in another tab. */
export function MenuLink({ children }: { readonly children: ReactNode }) {
  return (
    <Radix.Item className="menu-item" asChild>
      {children}
    </Radix.Item>
  );
}

interface MenuChoicesProps<Value extends string> {
  readonly label: string;
  readonly value: Value | undefined;
  readonly choices: readonly (readonly [Value, string])[];
  readonly onChoose: (value: Value) => void;
}

export function MenuChoices<Value extends string>({ label, value, choices, onChoose }: MenuChoicesProps<Value>) {
  return (
    <>
      <Radix.Label className="menu-label">{label}</Radix.Label>
      <Radix.RadioGroup value={value ?? ""} onValueChange={(chosen) => onChoose(chosen as Value)}>
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

export function MenuSeparator() {
  return <Radix.Separator className="menu-separator" />;
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <Radix.Label className="menu-label">{children}</Radix.Label>;
}
