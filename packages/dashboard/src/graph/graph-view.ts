import { useState } from "react";

export type GraphViewName = "graph" | "list";

const key = "stepwell.steps";

/** The chosen view, graph or list, which is kept for the next pages. */
export function useGraphView(): [GraphViewName, (view: GraphViewName) => void] {
  const [view, setView] = useState<GraphViewName>(() => (stored() === "list" ? "list" : "graph"));
  const choose = (chosen: GraphViewName) => {
    setView(chosen);
    try {
      localStorage.setItem(key, chosen);
    } catch {
      // A browser that keeps nothing: the choice holds for this page.
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
