/** Adds a second row for each operation with a second path, under the name of that alias. */
export function withAliases<Row>(rows: Readonly<Record<string, Row>>): Readonly<Record<string, Row>> {
  const aliases = Object.entries(rows).flatMap(([operationId, row]) =>
    operationId.includes("ApiToken") ? [[operationId.replace("ApiToken", "ApiAuthToken"), row] as const] : [],
  );
  return { ...rows, ...Object.fromEntries(aliases) };
}

/** The operation itself, also for one of its aliases. */
export function unaliased(operationId: string): string {
  return operationId.replace("ApiAuthToken", "ApiToken");
}
