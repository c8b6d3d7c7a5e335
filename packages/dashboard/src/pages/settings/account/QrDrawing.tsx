import { encodeQR } from "qr";
import { useMemo } from "react";

/** The standard requires this many light modules around the pattern. */
const border = 4;

export function QrDrawing({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = useMemo(() => encodeQR(text, "raw", { border }), [text]);
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${rows.length} ${rows.length}`} shapeRendering="crispEdges">
      <path d={rows.map(pathOf).join("")} />
    </svg>
  );
}

/** Draws each group of adjacent dark modules of a row as one bar. */
function pathOf(row: readonly boolean[], y: number): string {
  let path = "";
  for (let x = 0; x < row.length; x += 1) {
    if (row[x] !== true || row[x - 1] === true) continue;
    const end = row.indexOf(false, x);
    const width = (end === -1 ? row.length : end) - x;
    path += `M${x} ${y}h${width}v1h-${width}z`;
  }
  return path;
}
