import { type ReactNode, useEffect } from "react";
import "./PageHeading.css";
import { texts } from "../../texts/texts.ts";

interface PageHeadingProps {
  readonly title: string;
  /** What stands beside it: a badge, a tag. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
}

/** The page's first heading, and the title of the window with it. */
export function PageHeading({ title, beside, actions }: PageHeadingProps) {
  useEffect(() => {
    document.title = `${title} · ${texts.shell.product}`;
  }, [title]);
  return (
    <header className="page-heading">
      <div className="row">
        <h1>{title}</h1>
        {beside}
      </div>
      {actions !== undefined && <div className="row">{actions}</div>}
    </header>
  );
}
