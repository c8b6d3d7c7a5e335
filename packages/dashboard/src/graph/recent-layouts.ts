import { graphOf } from "./graph.ts";
import type { GraphStep } from "./graph-step.ts";
import { type Layout, layoutOf } from "./layout.ts";

const maxLayouts = 8;

/** The layouts, in the order of their latest use. */
const layouts = new Map<string, Layout>();

/**
 * Returns the layout of a definition's steps. The same steps get the same layout object, as long as their layout is among the last eight that were
 * used: a reader often looks at several jobs of one version, and computing a layout of 500 steps takes tenths of a second.
 */
export function recentLayoutOf(steps: readonly GraphStep[]): Layout {
  const key = JSON.stringify(steps);
  const layout = layouts.get(key) ?? layoutOf(graphOf(steps));
  layouts.delete(key);
  layouts.set(key, layout);
  for (const oldest of layouts.keys()) {
    if (layouts.size <= maxLayouts) break;
    layouts.delete(oldest);
  }
  return layout;
}
