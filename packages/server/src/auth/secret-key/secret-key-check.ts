import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Database } from "../../store/home/database.ts";
import {
  findSecretKeyCheck,
  insertSecretKeyCheck,
  replaceSecretKeyCheck,
} from "../../store/people/secret-key-check.ts";
import { listSigningKeys } from "../../store/people/signing-keys.ts";
import { signingKeyPurpose } from "../oidc/signing-keys.ts";

/**
 * Throws `WrongSecretKeyError` when none of the configured secret keys belongs to this store. A node that started with a wrong key could sign nobody
 * in, and the seals of the audit trail would look changed. Writes a check value into a store that has none yet.
 */
export async function requireSecretKey(database: Database, secrets: SecretBox): Promise<void> {
  const verdict = await judgeSecretKey(database, secrets);
  if (verdict === "opens") return;
  if (verdict === "wrong") throw new WrongSecretKeyError();
  // Several nodes may start at the same time on an empty store. One of them writes first: its key becomes the store's, and the others must have the
  // same key.
  const kept = await insertSecretKeyCheck(database, secrets.seal(purpose, context, plain));
  if (!opens(secrets, purpose, context, kept)) throw new WrongSecretKeyError();
}

/**
 * Tries the secret keys on the check value. Without a check value, the result is `wrong` if the secret keys cannot open the newest signing key, and
 * otherwise `unknown`. Writes nothing.
 */
export async function judgeSecretKey(database: Database, secrets: SecretBox): Promise<"opens" | "wrong" | "unknown"> {
  const sealed = await findSecretKeyCheck(database);
  if (sealed !== undefined) return opens(secrets, purpose, context, sealed) ? "opens" : "wrong";
  // A store of an earlier release has no check value. In its place, the newest signing key shows which secret key the store has.
  const newest = (await listSigningKeys(database)).at(-1);
  if (newest === undefined) return "unknown";
  return opens(secrets, signingKeyPurpose, newest.keyId, newest.privateKey) ? "unknown" : "wrong";
}

/** Tells whether the store has a value that only its own secret key can open: a check value or a signing key. */
export async function hasSealedValues(database: Database): Promise<boolean> {
  return (await findSecretKeyCheck(database)) !== undefined || (await listSigningKeys(database)).length > 0;
}

/** Seals the check value again if it was sealed under an earlier secret key. Returns how many values it changed: 1 or 0. */
export async function resealSecretKeyCheck(database: Database, secrets: SecretBox): Promise<number> {
  const sealed = await findSecretKeyCheck(database);
  const resealed = sealed === undefined ? undefined : secrets.reseal(purpose, context, sealed);
  if (sealed === undefined || resealed === undefined) return 0;
  return (await replaceSecretKeyCheck(database, sealed, resealed)) ? 1 : 0;
}

export class WrongSecretKeyError extends Error {
  constructor() {
    super(
      "STEPWELL_SECRET_KEY is not the secret key of this store: it cannot decrypt the values in the store. Start with the key with which the service ran before. On the embedded store, that key is in the file secret.key in STEPWELL_DATA_DIR, unless STEPWELL_SECRET_KEY was set then. While you change the key, name the other key in STEPWELL_OTHER_SECRET_KEYS. If the key is lost, docs/security.md says what to do.",
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
/** The text has no meaning: it only matters whether the key opens it. */
const plain = "this store's key";
