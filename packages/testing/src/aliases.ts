/** Adds a second row for each operation that has an alias, under the name of the alias. */
export function withAliases<Row>(rows: Readonly<Record<string, Row>>): Readonly<Record<string, Row>> {
  const aliases = Object.entries(rows).flatMap(([operationId, row]) =>
    operationId.includes("ApiToken") ? [[operationId.replace("ApiToken", "ApiAuthToken"), row] as const] : [],
  );
  return { ...rows, ...Object.fromEntries(aliases) };
}

/** Returns the name of the operation itself for one of its aliases, and any other name unchanged. */
export function unaliased(operationId: string): string {
  return operationId.replace("ApiAuthToken", "ApiToken");
}
