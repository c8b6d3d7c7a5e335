import type { ReactNode } from "react";
import "./EmptyState.css";
import { Command } from "../words/Command.tsx";

interface EmptyStateProps {
  readonly title?: string;
  /** Says which things the list will show and what creates them, or why there is nothing to see. */
  readonly text: ReactNode;
  readonly command?: string | undefined;
  readonly children?: ReactNode;
}

/** Takes the place of content that cannot be shown, mostly of an empty list. `command` is a text to copy, mostly the command to begin with. */
export function EmptyState({ title, text, command, children }: EmptyStateProps) {
  return (
    <div className="empty-state">
      {title !== undefined && <p className="empty-state-title">{title}</p>}
      <p className="soft">{text}</p>
      {command !== undefined && <Command text={command} />}
      {children}
    </div>
  );
}
