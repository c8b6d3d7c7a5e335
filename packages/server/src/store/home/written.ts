/** A row that an inserting statement returns only to show that it was written. */
export interface Written {
  readonly written: number;
}

/**
 * Throws when rows are missing. An INSERT reads its organizations from the table of organizations, so it leaves out the rows of an organization that
 * does not exist.
 */
export function requireAllWritten(written: readonly unknown[], count: number, things: string): void {
  if (written.length !== count) throw new Error(`Only ${written.length} of ${count} ${things} were written.`);
}
