import { type ReactNode, useId } from "react";
import "./Panel.css";
import { classNames } from "../class-names.ts";

interface PanelProps {
  readonly title: string;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  /** True if the content, such as a table or a graph, goes up to the panel's edges. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, beside, actions, isFlush = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className={classNames("panel", isFlush && "panel-flush")} aria-labelledby={id}>
      <header className="panel-header">
        <div className="row">
          <h2 id={id}>{title}</h2>
          {beside}
        </div>
        {actions}
      </header>
      <div className="panel-content">{children}</div>
    </section>
  );
}
