import type { ReactNode } from "react";
import "./EmptyState.css";
import { Command } from "../words/Command.tsx";

interface EmptyStateProps {
  readonly title?: string;
  /** A sentence that says what would be shown here, and what creates it. */
  readonly text: ReactNode;
  readonly command?: string | undefined;
  readonly children?: ReactNode;
}

/** Nothing is here yet: says what would be, and the exact command to begin. */
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
