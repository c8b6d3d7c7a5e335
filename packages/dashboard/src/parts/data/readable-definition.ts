/** Returns the definition as it was sent. If it is a single line, it is formatted, so that people can read it. */
export function readable(definition: string): string {
  if (definition.trim().includes("\n")) return definition;
  try {
    return `${JSON.stringify(JSON.parse(definition), null, 2)}\n`;
  } catch {
    return definition;
  }
}
