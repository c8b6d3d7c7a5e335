/**
 * How much text a value may be, told without reading it. To measure it would be to unpack it, which is what takes the time; compressed it is a
 * hundredth of its text at the least.
 */
export function mostBytes(column: string): string {
  return `(pg_column_size(${column})::bigint * CASE WHEN pg_column_compression(${column}) IS NULL THEN 1 ELSE 100 END)`;
}
