/** A row of a statement that inserts rows and says nothing else about them. */
export interface Written {
  readonly written: number;
}

/** Throws when rows are missing: an INSERT that takes its organizations from their table leaves out rows of an organization that is not there. */
export function requireAllWritten(written: readonly unknown[], count: number, things: string): void {
  if (written.length !== count) throw new Error(`Of ${count} ${things} ${written.length} were written.`);
}
