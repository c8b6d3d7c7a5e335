/** Tells whether a text has the form of an id. Where a name or an id may be given, a text of this form is taken as an id. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
