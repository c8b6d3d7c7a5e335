import type { ReactNode } from "react";
import "./EmptyState.css";
import { Command } from "../words/Command.tsx";

interface EmptyStateProps {
  readonly title?: string;
  /** A sentence that names the things that this list will show, and the action that creates them. */
  readonly text: ReactNode;
  readonly command?: string | undefined;
  readonly children?: ReactNode;
}

/** A list without entries. Says which entries it would have, and shows the exact command to begin. */
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
