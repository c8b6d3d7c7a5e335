/** Somebody's roles in an organization, and which of them the provider gave. */
export interface HeldRoles {
  readonly roles: readonly string[];
  readonly providerRoles: readonly string[];
}

/**
 * The roles of a person after the provider gave these. Roles that others gave stay, and count as given by those others even where the provider gives
 * them too; roles that the provider gave before and gives no more are gone.
 */
export function rolesAfter(held: HeldRoles, given: readonly string[]): HeldRoles {
  const byOthers = held.roles.filter((role) => !held.providerRoles.includes(role));
  const byProvider = given.filter((role) => !byOthers.includes(role));
  return { roles: [...byOthers, ...byProvider], providerRoles: byProvider };
}

export function hasSameRoles(one: HeldRoles, other: HeldRoles): boolean {
  return isSameSet(one.roles, other.roles) && isSameSet(one.providerRoles, other.providerRoles);
}

/** For the last owner: an organization without one could never have one again. The provider may take it away another time. */
export function withOwner({ roles, providerRoles }: HeldRoles): HeldRoles {
  return { roles: [...roles, "owner"], providerRoles: [...providerRoles, "owner"] };
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}
