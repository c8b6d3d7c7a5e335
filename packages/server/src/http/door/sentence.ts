/** Ends a text with a full stop, unless it ends as a sentence already: hints are questions. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
