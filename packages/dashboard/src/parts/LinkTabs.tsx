import type { ReactNode } from "react";
import "./LinkTabs.css";

/** The pages of an area, as links in a row; each has an address of its own. */
export function LinkTabs({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <nav className="link-tabs" aria-label={label}>
      {children}
    </nav>
  );
}
