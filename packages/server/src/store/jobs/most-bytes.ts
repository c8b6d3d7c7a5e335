/**
 * An upper bound on the bytes of a value's text, found without reading the value. To measure the text, PostgreSQL would have to unpack it, which
 * is slow. A value that was compressed with `pglz` has at least 1/100 of the text's length. With `lz4` it has at least 1/255.
 */
export function mostBytes(column: string): string {
  return `(pg_column_size(${column})::bigint * CASE pg_column_compression(${column}) WHEN 'pglz' THEN 100 WHEN 'lz4' THEN 255 ELSE 1 END)`;
}
