import { readFileSync } from "node:fs";

/** The memory that a process uses, in megabytes; null if the process has ended, or on systems without /proc. */
export function residentMbOf(pid: number): number | null {
  return megabytesOf(pid, "VmRSS");
}

/** The highest memory use of a process so far, in megabytes; null if the process has ended, or on systems without /proc. */
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
