import type { ReactNode } from "react";
import { basePath } from "../../base-url.ts";
import { texts } from "../../texts/texts.ts";
import type { DocsAddress } from "./docs-addresses.ts";

interface DocsLinkProps {
  readonly to: DocsAddress;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Leads to a page of the documentation, in another tab, so that unfinished work on this page is not lost. */
export function DocsLink({ to, className, children }: DocsLinkProps) {
  return (
    <a href={basePath + to} target="_blank" rel="noreferrer" className={className}>
      {children}
      <span className="visually-hidden"> {texts.shell.inNewTab}</span>
    </a>
  );
}
