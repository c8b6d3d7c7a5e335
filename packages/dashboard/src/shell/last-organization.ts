const key = "stepwell.organization";

/**
 * Returns the organization that was last open in this browser. If it is not among `organizations`, returns the first of them.
 */
export function lastOf<Organization extends { readonly organizationId: string }>(
  organizations: readonly Organization[],
): Organization | undefined {
  const last = lastOrganizationId();
  return organizations.find(({ organizationId }) => organizationId === last) ?? organizations[0];
}

function lastOrganizationId(): string | null {
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
    // A browser that stores nothing begins with the first organization.
  }
}
