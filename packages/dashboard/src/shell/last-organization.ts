const key = "stepwell.organization";

/** The organization in which this browser was last: where the first page leads. */
export function lastOrganizationId(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function rememberOrganization(organizationId: string): void {
  try {
    localStorage.setItem(key, organizationId);
  } catch {
    // A browser that keeps nothing begins with the first organization.
  }
}
