import { recordAccountActivity } from "../../auth/account-activity.ts";
import { notFound } from "../../core/service-error.ts";
import { type Account, findAccount, renameAccount } from "../../store/people/accounts.ts";
import type { Act, RevokingParts } from "../act/act.ts";

/** Changes the name that people see. Returns the account as it is now. */
export async function updateAccount(
  { database, engine, authenticator }: RevokingParts,
  { actor, address }: Act,
  displayName: string,
): Promise<Account> {
  const { id: userId } = actor;
  const account = await database.transaction(async (transaction) => {
    const before = await findAccount(transaction, userId);
    if (before === undefined) throw notFound("account");
    await renameAccount(transaction, userId, displayName);
    const details = { from: before.displayName, to: displayName };
    await recordAccountActivity(transaction, engine, { userId, action: "account-renamed", address, details });
    return { ...before, displayName };
  });
  authenticator.forgetUser(userId);
  return account;
}
