/** Formats a number with its noun, in the format that English readers use: "1 job", "3 jobs". */
export function countOf(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
