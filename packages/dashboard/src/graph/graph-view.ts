import { useState } from "react";

export type GraphViewName = "graph" | "list";

const key = "stepwell.steps";

/** Whoever chose the list wants it on the next page too. */
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
