import { useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { nameOf, stepId } from "./graph.ts";
import type { Layout, PlacedNode } from "./layout.ts";

/** At a smaller zoom the graph cannot be read. So a graph that does not fit at this zoom is at first only partly in view. */
const leastZoom = 0.62;
const margin = 24;

/**
 * Chooses the part of the picture that is in view. The whole picture is in view if it fits. If it does not fit, the view shows the `current`
 * step, or the beginning of the graph if there is no `current` step. When another step becomes `current`, the view moves to it if necessary.
 */
export function useViewport(layout: Layout, place: RefObject<HTMLElement | null>, current: string | undefined) {
  const { setViewport, getViewport } = useReactFlow();
  const isReady = useRef(false);
  const latest = useRef({ layout, current });
  latest.current = { layout, current };

  const nodeOf = useCallback(
    (id: string | undefined) => latest.current.layout.nodes.find((node) => node.id === id),
    [],
  );

  const begin = useCallback(() => {
    isReady.current = true;
    const size = sizeOf(place);
    const { layout: shown, current: step } = latest.current;
    void setViewport(firstViewport(shown, size, nodeOf(step === undefined ? undefined : stepId(step))));
  }, [setViewport, place, nodeOf]);

  const isInView = useCallback(
    (node: PlacedNode) => {
      const { x, y, zoom } = getViewport();
      const size = sizeOf(place);
      const left = node.x * zoom + x;
      const top = node.y * zoom + y;
      return left >= 0 && top >= 0 && left + node.width * zoom <= size.width && top + node.height * zoom <= size.height;
    },
    [getViewport, place],
  );

  const bringIntoView = useCallback(
    (id: string) => {
      const node = nodeOf(id);
      if (node === undefined || isInView(node)) return;
      const { zoom } = getViewport();
      void setViewport(centred(node, Math.max(zoom, leastZoom), sizeOf(place)), { duration: moveMs() });
    },
    [nodeOf, isInView, getViewport, setViewport, place],
  );

  // The graph changes while a definition is typed, so it is fitted again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: on another layout only
  useEffect(() => {
    if (isReady.current) begin();
  }, [layout]);

  useEffect(() => {
    if (isReady.current && current !== undefined) bringIntoView(stepId(current));
  }, [current, bringIntoView]);

  const firstInView = useCallback(
    (preferred: string | undefined) => {
      const node = nodeOf(preferred);
      if (node !== undefined && isInView(node)) return preferred;
      return latest.current.layout.nodes.find((one) => one.kind === "step" && isInView(one))?.id ?? preferred;
    },
    [nodeOf, isInView],
  );

  return { begin, bringIntoView, firstInView };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function sizeOf(place: RefObject<HTMLElement | null>): Size {
  return { width: place.current?.clientWidth ?? 0, height: place.current?.clientHeight ?? 0 };
}

function firstViewport(layout: Layout, size: Size, current: PlacedNode | undefined) {
  const fitting = Math.min((size.width - 2 * margin) / layout.width, (size.height - 2 * margin) / layout.height, 1);
  if (fitting >= leastZoom || current === undefined) {
    const zoom = Math.max(fitting, leastZoom);
    const first = layout.nodes[0];
    // A graph that is too large is shown from its beginning.
    const x =
      layout.width * zoom <= size.width || first === undefined
        ? (size.width - layout.width * zoom) / 2
        : size.width / 2 - (first.x + first.width / 2) * zoom;
    const y = layout.height * zoom <= size.height ? (size.height - layout.height * zoom) / 2 : margin;
    return { x, y, zoom };
  }
  return centred(current, leastZoom + 0.2, size);
}

function centred(node: PlacedNode, zoom: number, size: Size) {
  return {
    x: size.width / 2 - (node.x + node.width / 2) * zoom,
    y: size.height / 2 - (node.y + node.height / 2) * zoom,
    zoom,
  };
}

/** The duration of a movement; 0 for people who have asked their system for less motion. */
export function moveMs(): number {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 250;
}

/** Moves the focus to a step once the step is drawn. A step that has just come into view may not be drawn yet. */
export function focusStep(place: RefObject<HTMLElement | null>, id: string): void {
  const name = nameOf(id);
  let framesLeft = 60;
  const tryFocus = () => {
    const button = place.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(name)}"]`);
    if (button !== null && button !== undefined) button.focus({ preventScroll: true });
    else if (framesLeft-- > 0) requestAnimationFrame(tryFocus);
  };
  tryFocus();
}
