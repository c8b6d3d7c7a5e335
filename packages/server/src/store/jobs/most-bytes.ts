/**
 * The bytes that the text of a value may have, told without reading it. To measure the text would be to unpack it, which is what takes the time: as
 * it is stored it has at the least a hundredth of its length by the one way of compressing, and a 255th by the other.
 */
export function mostBytes(column: string): string {
  return `(pg_column_size(${column})::bigint * CASE pg_column_compression(${column}) WHEN 'pglz' THEN 100 WHEN 'lz4' THEN 255 ELSE 1 END)`;
}
