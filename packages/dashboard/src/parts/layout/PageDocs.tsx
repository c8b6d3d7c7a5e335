import { DocsLink } from "./DocsLink.tsx";
import type { DocsPlace } from "./docs-addresses.ts";
import "./PageDocs.css";

/** A link beside a heading. It leads to the documentation of what is below the heading. */
export function PageDocs({ of }: { readonly of: DocsPlace }) {
  return <DocsLink to={of} className="page-docs" />;
}
