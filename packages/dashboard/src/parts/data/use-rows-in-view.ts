import { type RefObject, useLayoutEffect, useState } from "react";
import { flushSync } from "react-dom";

/** The rows to draw: from `first` up to, but not including, `end`. */
export interface RowsInView {
  readonly first: number;
  readonly end: number;
}

interface Rows {
  /** The element that is as high as all rows together. Its upper edge is the upper edge of the first row, whether that row is drawn or not. */
  readonly place: RefObject<HTMLElement | null>;
  /** The element that scrolls. Default: the page. */
  readonly frame?: RefObject<HTMLElement | null>;
  readonly count: number;
  /** The height of every row. All are the same, so that a row's place is known without drawing the rows above it. */
  readonly rowPixels: number;
  /** False if all rows are drawn. */
  readonly isLong?: boolean;
}

/** Rows are added and removed in groups of this size, so that the list is not drawn again for every pixel of scrolling. */
const rowsAtOnce = 10;
/** The rows that are drawn before the page is measured. */
const firstRows: RowsInView = { first: 0, end: 3 * rowsAtOnce };

/** Returns which rows of a long list are in view, with some rows around them. */
export function useRowsInView({ place, frame, count, rowPixels, isLong = true }: Rows): RowsInView {
  const [inView, setInView] = useState(firstRows);
  useLayoutEffect(() => {
    if (!isLong) return;
    const look = () => {
      const now = rowsBetween(place.current, frame?.current, rowPixels);
      setInView((before) => (before.first === now.first && before.end === now.end ? before : now));
    };
    // The rows are drawn before this function returns. Otherwise the user would see a gap where rows are not drawn yet.
    const onScroll = () => flushSync(look);
    look();
    // Elements above the list may appear and disappear, which moves the list.
    const observer = new ResizeObserver(look);
    observer.observe(document.body);
    window.addEventListener("resize", look);
    // In the capturing phase, the window also receives the scroll events of elements within the page.
    window.addEventListener("scroll", onScroll, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", look);
      window.removeEventListener("scroll", onScroll, { capture: true });
    };
  }, [place, frame, rowPixels, isLong]);
  if (!isLong) return { first: 0, end: count };
  const end = Math.min(inView.end, count);
  return { first: Math.min(inView.first, end), end };
}

function rowsBetween(place: HTMLElement | null, frame: HTMLElement | null | undefined, rowPixels: number): RowsInView {
  if (place === null) return firstRows;
  const { top } = place.getBoundingClientRect();
  const { top: upper, bottom: lower } = frame?.getBoundingClientRect() ?? { top: 0, bottom: window.innerHeight };
  const groupPixels = rowPixels * rowsAtOnce;
  const first = Math.floor((upper - top) / groupPixels) - 1;
  const end = Math.ceil((lower - top) / groupPixels) + 1;
  return { first: Math.max(0, first) * rowsAtOnce, end: Math.max(1, end) * rowsAtOnce };
}
