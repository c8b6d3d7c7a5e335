/**
 * An upper bound on the bytes of a value's text, without reading it. Measuring the text would mean unpacking it, which is what takes the time. A
 * stored value has at least a hundredth of the text's length with one way of compressing, and a 255th with the other.
 */
export function mostBytes(column: string): string {
  return `(pg_column_size(${column})::bigint * CASE pg_column_compression(${column}) WHEN 'pglz' THEN 100 WHEN 'lz4' THEN 255 ELSE 1 END)`;
}
