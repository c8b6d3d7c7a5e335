import { readFileSync } from "node:fs";

/** Megabytes of a process that are in memory; null where there is no /proc. */
export function residentMbOf(pid: number): number | null {
  return megabytesOf(pid, "VmRSS");
}

/** The most megabytes of a process that ever were in memory; null where there is no /proc. */
export function peakResidentMbOf(pid: number): number | null {
  return megabytesOf(pid, "VmHWM");
}

function megabytesOf(pid: number, name: "VmRSS" | "VmHWM"): number | null {
  try {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1024);
  } catch {
    return null;
  }
}
