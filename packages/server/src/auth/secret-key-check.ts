import type { Database } from "../store/database.ts";
import { findSecretKeyCheck, insertSecretKeyCheck, replaceSecretKeyCheck } from "../store/secret-key-check.ts";
import { listSigningKeys } from "../store/signing-keys.ts";
import { signingKeyPurpose } from "./oidc/signing-keys.ts";
import type { SecretBox } from "./secret-box.ts";

/**
 * Throws `WrongSecretKeyError` when none of the secret keys here is this store's: a node that started with it could sign nobody in, and its seals of
 * the audit trail would count as changed. A store that has no check value yet gets one.
 */
export async function requireSecretKey(database: Database, secrets: SecretBox): Promise<void> {
  const verdict = await judgeSecretKey(database, secrets);
  if (verdict === "opens") return;
  if (verdict === "wrong") throw new WrongSecretKeyError();
  // Of several nodes that start at once on an empty store, one writes: its key is the store's, and the others must have it too.
  const kept = await insertSecretKeyCheck(database, secrets.seal(purpose, context, plain));
  if (!opens(secrets, purpose, context, kept)) throw new WrongSecretKeyError();
}

/** `unknown`: the store has neither a check value nor a signing key, so that nothing tells. Writes nothing. */
export async function judgeSecretKey(database: Database, secrets: SecretBox): Promise<"opens" | "wrong" | "unknown"> {
  const sealed = await findSecretKeyCheck(database);
  if (sealed !== undefined) return opens(secrets, purpose, context, sealed) ? "opens" : "wrong";
  // A store of a version that knew no check value: its newest signing key tells whose it is.
  const newest = (await listSigningKeys(database)).at(-1);
  if (newest === undefined) return "unknown";
  return opens(secrets, signingKeyPurpose, newest.keyId, newest.privateKey) ? "unknown" : "wrong";
}

/** Seals the check value again when it is under a key that is on its way out. Answers how many values that were: one, or none. */
export async function resealSecretKeyCheck(database: Database, secrets: SecretBox): Promise<number> {
  const sealed = await findSecretKeyCheck(database);
  const resealed = sealed === undefined ? undefined : secrets.reseal(purpose, context, sealed);
  if (sealed === undefined || resealed === undefined) return 0;
  return (await replaceSecretKeyCheck(database, sealed, resealed)) ? 1 : 0;
}

export class WrongSecretKeyError extends Error {
  constructor() {
    super(
      "STEPWELL_SECRET_KEY is not the secret key of this store: it does not open what is sealed there. Start with the key that the store was made with (on the embedded store the file secret.key in STEPWELL_DATA_DIR, unless the variable is set); while the key is being changed name the other one in STEPWELL_OTHER_SECRET_KEYS. If the key is lost, docs/security.md says what to do.",
    );
    this.name = "WrongSecretKeyError";
  }
}

function opens(secrets: SecretBox, ...value: Parameters<SecretBox["open"]>): boolean {
  try {
    secrets.open(...value);
    return true;
  } catch {
    return false;
  }
}

const purpose = "secret-key-check";
const context = "store";
/** Says nothing; that it opens is the whole message. */
const plain = "this store's key";
