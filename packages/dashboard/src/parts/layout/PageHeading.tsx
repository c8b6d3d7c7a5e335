import { type ReactNode, useEffect } from "react";
import "./PageHeading.css";
import { texts } from "../../texts/texts.ts";
import type { DocsPlace } from "./docs-addresses.ts";
import { PageDocs } from "./PageDocs.tsx";

interface PageHeadingProps {
  readonly title: string;
  /** The place in the documentation that explains the page. */
  readonly docs?: DocsPlace | undefined;
  /** Something shown beside the heading, such as a badge or a tag. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  /** The parts of the title of the browser's tab, such as a state and a name. Default: the heading. */
  readonly tab?: readonly (string | undefined)[];
}

export function PageHeading({ title, docs, beside, actions, tab = [title] }: PageHeadingProps) {
  const tabTitle = [...tab.filter((part) => part !== undefined), texts.shell.product].join(" · ");
  useEffect(() => {
    document.title = tabTitle;
  }, [tabTitle]);
  return (
    <header className="page-heading">
      <div className="row">
        <div className="page-title">
          <h1 title={title}>{title}</h1>
          {docs !== undefined && <PageDocs of={docs} />}
        </div>
        {beside}
      </div>
      {actions !== undefined && <div className="row">{actions}</div>}
    </header>
  );
}
