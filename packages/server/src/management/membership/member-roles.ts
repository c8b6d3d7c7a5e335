/** The roles of a person in an organization, and which of them the provider gave. */
export interface HeldRoles {
  readonly roles: readonly string[];
  readonly providerRoles: readonly string[];
}

/**
 * Returns the roles of a person after the provider gave these roles. A role that others have given stays, and still counts as given by others if the
 * provider gives it too. Roles that only the provider gave before, and no longer gives, are removed.
 */
export function rolesAfter(held: HeldRoles, given: readonly string[]): HeldRoles {
  const byOthers = held.roles.filter((role) => !held.providerRoles.includes(role));
  const byProvider = given.filter((role) => !byOthers.includes(role));
  return { roles: [...byOthers, ...byProvider], providerRoles: byProvider };
}

export function hasSameRoles(one: HeldRoles, other: HeldRoles): boolean {
  return isSameSet(one.roles, other.roles) && isSameSet(one.providerRoles, other.providerRoles);
}

/**
 * Keeps `owner` for the last owner, because an organization without an owner might never get one again. The role still counts as given by the
 * provider, which can take it away later.
 */
export function withOwner({ roles, providerRoles }: HeldRoles): HeldRoles {
  return { roles: [...roles, "owner"], providerRoles: [...providerRoles, "owner"] };
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}
