/** "1 job", "3 jobs"; the number as readers of English write it. */
export function countOf(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
