import { basePath } from "../../base-url.ts";
import { texts } from "../../texts/texts.ts";
import { type DocsPlace, docsAddresses } from "./docs-addresses.ts";
import { Icon } from "./Icon.tsx";

interface DocsLinkProps {
  readonly to: DocsPlace;
  readonly className: string;
}

/** A question mark that leads to a place in the documentation, in another tab, so that unfinished work on this page is not lost. */
export function DocsLink({ to, className }: DocsLinkProps) {
  const name = `${texts.docs[to]} ${texts.shell.inNewTab}`;
  return (
    <a href={basePath + docsAddresses[to]} target="_blank" rel="noreferrer" className={className} title={name}>
      <Icon name="help" />
      <span className="visually-hidden">{name}</span>
    </a>
  );
}
