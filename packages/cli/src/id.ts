/** Tells whether a text has the form of an id. Names of workflows, queues and organizations may have any other form. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
