import type { Point } from "./layout.ts";

/** Rounds the corners of a line through these points, so that the eye can follow it. */
export function edgePath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const parts = [`M${at(first)}`];
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (next === undefined) {
      parts.push(`L${at(point)}`);
      continue;
    }
    const before = rest[index - 1] ?? first;
    parts.push(`L${at(towards(point, before))}Q${at(point)} ${at(towards(point, next))}`);
  }
  return parts.join("");
}

const cornerPixels = 14;

/** Returns the point that is a little way from a corner, towards the other point. */
function towards(corner: Point, other: Point): Point {
  const distance = Math.hypot(other.x - corner.x, other.y - corner.y);
  const part = distance === 0 ? 0 : Math.min(cornerPixels, distance / 2) / distance;
  return { x: corner.x + (other.x - corner.x) * part, y: corner.y + (other.y - corner.y) * part };
}

function at({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
}
