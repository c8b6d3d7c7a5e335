/** Formats a definition that is a single line, so that people can read it. Returns any other definition as it was sent. */
export function readable(definition: string): string {
  if (definition.trim().includes("\n")) return definition;
  try {
    return `${JSON.stringify(JSON.parse(definition), null, 2)}\n`;
  } catch {
    return definition;
  }
}
