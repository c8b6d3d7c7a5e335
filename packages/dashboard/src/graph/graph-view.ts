import { useState } from "react";

export type GraphViewName = "graph" | "list";

const key = "stepwell.steps";

/** The chosen view, graph or list. The browser stores it for the next pages. */
export function useGraphView(): [GraphViewName, (view: GraphViewName) => void] {
  const [view, setView] = useState<GraphViewName>(() => (stored() === "list" ? "list" : "graph"));
  const choose = (chosen: GraphViewName) => {
    setView(chosen);
    try {
      localStorage.setItem(key, chosen);
    } catch {
      // The browser stores nothing, so the choice is valid only on this page.
    }
  };
  return [view, choose];
}

function stored(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
