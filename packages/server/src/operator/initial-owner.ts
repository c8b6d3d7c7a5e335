import { hashAlone } from "../auth/passwords/password-hasher.ts";
import { type IssuedPasswordLink, issuePasswordLink } from "../auth/passwords/password-link.ts";
import { hasFormat } from "../core/schema/formats/format.ts";
import { ServiceError } from "../core/service-error.ts";
import { newId } from "../engine/identifier.ts";
import { addUserToken } from "../management/account/user-tokens.ts";
import type { Act } from "../management/act/act.ts";
import { insertOwnedOrganization } from "../management/organizations/organizations.ts";
import type { Database } from "../store/home/database.ts";
import { setPassword } from "../store/people/user-credentials.ts";
import { hasUsers, insertUser } from "../store/people/users.ts";

export interface InitialOwner {
  readonly userId: string;
  readonly organizationId: string;
  /** The owner's user token, which is shown only once and stored nowhere. */
  readonly token: string;
  /** The link by which the owner sets a first password; undefined if the request has a password. */
  readonly passwordLink: IssuedPasswordLink | undefined;
}

export interface OwnerRequest {
  readonly email: string;
  readonly displayName: string;
  readonly organizationName: string;
  /** Left out if the owner is to set the password by a link that works once. There is no default password. */
  readonly password?: string;
}

/** Throws unless the e-mail address and the name of the organization are valid. The error names the option of `stepwell init` to correct. */
export function requireOwnerRequest({ email, organizationName }: OwnerRequest): void {
  if (!hasFormat(email, "email"))
    throw new ServiceError("ValidationError", `--email must be an e-mail address, but is "${email}".`);
  if (!/^\P{Cc}*[^\s\p{Cc}]\P{Cc}*$/u.test(organizationName) || organizationName.length > maxNameLength) {
    throw new ServiceError(
      "ValidationError",
      `--organization must be a name of 1 to ${maxNameLength} visible characters.`,
    );
  }
}

const maxNameLength = 256;

const act = {
  actor: { type: "service", id: "stepwell init" },
  operation: "CreateOrganization",
  requestId: "",
  address: "",
} as const satisfies Act;

/**
 * Makes the first user of an empty store, with a user token, and an organization that this user owns. Returns undefined if there is a user already.
 * Everything happens in one transaction, so if the process dies, the store has either all of it or nothing.
 */
export async function initializeOwner(database: Database, request: OwnerRequest): Promise<InitialOwner | undefined> {
  // Before the service runs, no heartbeat sets the clock, so this machine's time is used.
  const createdAt = Date.now();
  const userId = newId(createdAt);
  const organizationId = newId(createdAt);
  const { email, displayName, organizationName, password } = request;
  const passwordHash = password === undefined ? undefined : await hashAlone(password);
  return await database.transaction(async (transaction) => {
    if (await hasUsers(transaction)) return undefined;
    await insertUser(transaction, { userId, email, displayName, createdAt });
    const organization = { organizationId, name: organizationName, displayName: organizationName, createdAt };
    await insertOwnedOrganization(transaction, { now: () => createdAt }, act, { ...organization, ownerId: userId });
    const tokenId = newId(createdAt);
    const firstToken = { userId, tokenId, name: "first token", createdAt, expiresAt: null };
    const { token } = await addUserToken(transaction, firstToken);
    if (passwordHash !== undefined) {
      await setPassword(transaction, userId, passwordHash, createdAt);
      return { userId, organizationId, token, passwordLink: undefined };
    }
    const passwordLink = await issuePasswordLink(transaction, {
      userId,
      kind: "first",
      createdBy: act.actor,
      createdAt,
      keptTokenId: tokenId,
    });
    return { userId, organizationId, token, passwordLink };
  });
}
