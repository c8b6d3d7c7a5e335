/**
 * An upper bound on the bytes of a value's text, found without reading the value. Measuring the text would mean unpacking it, and the unpacking takes
 * the time. A value that was compressed with `pglz` has at least a hundredth of the text's length. With `lz4` it has at least a 255th.
 */
export function mostBytes(column: string): string {
  return `(pg_column_size(${column})::bigint * CASE pg_column_compression(${column}) WHEN 'pglz' THEN 100 WHEN 'lz4' THEN 255 ELSE 1 END)`;
}
