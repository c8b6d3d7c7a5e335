import { createPrivateKey, createPublicKey, generateKeyPair, hash, type JsonWebKey, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { Database } from "../../store/home/database.ts";
import {
  deleteRetiredSigningKeys,
  insertSigningKey,
  listSigningKeys,
  replacePrivateKey,
  retireSigningKeysBefore,
  type StoredSigningKey,
} from "../../store/people/signing-keys.ts";
import { idTokenSeconds } from "./lifetimes.ts";

export interface SigningKeysParts {
  readonly database: Database;
  readonly secrets: SecretBox;
  /** The database's time. */
  readonly now: () => Timestamp;
}

/** A private key in the form that the provider takes. */
export interface SigningKey extends JsonWebKey {
  readonly kid: string;
  readonly alg: "RS256";
  readonly use: "sig";
}

const dayMs = 86_400_000;
/** A key signs for this long. Then the next key signs. */
const keyLifeMs = 30 * dayMs;
/** The next key is published this long before it signs. By then, every node has read it, and so has every client that caches the keys for at most a day. */
const publishedAheadMs = dayMs;
/** A node keeps the keys in memory for this long. That is safe, because a new key is published much longer than this before it signs. */
const rememberedMs = 60_000;
/** An unknown key id makes a node look for new keys at once, but not more often than this. */
const unknownLookMs = 1_000;

/** The keys that sign id tokens. The service itself makes, seals and replaces them; the first one is made when it is needed. */
export class SigningKeys {
  readonly #parts: SigningKeysParts;
  #remembered: { readonly keys: readonly StoredSigningKey[]; readonly at: number } | undefined;
  #loading: Promise<readonly StoredSigningKey[]> | undefined;
  #making: Promise<StoredSigningKey> | undefined;
  readonly #publicKeys = new Map<string, KeyObject>();
  readonly #privateKeys = new Map<string, SigningKey>();

  constructor(parts: SigningKeysParts) {
    this.#parts = parts;
  }

  /** Returns all published keys; the first is the one that signs now. */
  async published(): Promise<readonly SigningKey[]> {
    const stored = await this.#keys(rememberedMs);
    const keys = stored.length === 0 ? [await this.#first()] : stored;
    const now = this.#parts.now();
    const active = keys.findLast((key) => key.activeAt <= now) ?? keys[0];
    const ordered = keys.toSorted((one, other) => Number(other === active) - Number(one === active));
    return ordered.map((key) => this.#open(key));
  }

  /** Returns the key with the id that a token names; undefined for an unknown or a retired one. */
  async publicKey(keyId: string): Promise<KeyObject | undefined> {
    const key = this.#find(await this.#keys(rememberedMs), keyId) ?? this.#find(await this.#keys(unknownLookMs), keyId);
    if (key === undefined) return undefined;
    const known = this.#publicKeys.get(keyId);
    if (known !== undefined) return known;
    const publicKey = createPublicKey({ key: key.publicKey as JsonWebKey, format: "jwk" });
    this.#publicKeys.set(keyId, publicKey);
    return publicKey;
  }

  /**
   * Publishes the next key in time, and deletes the keys whose last token has expired. A duty calls it on every node. If several nodes make the next
   * key, they all use the key that is stored first.
   */
  async rotate(): Promise<void> {
    const { database, now } = this.#parts;
    const newest = (await listSigningKeys(database)).at(-1);
    // The first key is made only when it is needed. Until then, there is none to rotate.
    if (newest === undefined) return;
    const at = now();
    if (at >= newest.activeAt + keyLifeMs - publishedAheadMs) {
      const made = await this.#make(newest.keyNumber + 1, at, at + publishedAheadMs);
      await database.transaction(async (transaction) => {
        const next = await insertSigningKey(transaction, made);
        await retireSigningKeysBefore(transaction, next.keyNumber, next.activeAt + graceMs);
      });
    }
    await deleteRetiredSigningKeys(database, at);
    this.#remembered = undefined;
  }

  /** Seals again the keys that are sealed under an earlier secret key, and returns how many there were. */
  async reseal(): Promise<number> {
    const { database, secrets } = this.#parts;
    let count = 0;
    for (const { keyNumber, keyId, privateKey } of await listSigningKeys(database)) {
      const resealed = secrets.reseal(signingKeyPurpose, keyId, privateKey);
      if (resealed !== undefined && (await replacePrivateKey(database, keyNumber, privateKey, resealed))) count += 1;
    }
    return count;
  }

  #find(keys: readonly StoredSigningKey[], keyId: string): StoredSigningKey | undefined {
    const now = this.#parts.now();
    return keys.find((key) => key.keyId === keyId && (key.retiredAt === null || key.retiredAt > now));
  }

  async #keys(maxAgeMs: number): Promise<readonly StoredSigningKey[]> {
    const at = performance.now();
    if (this.#remembered !== undefined && at - this.#remembered.at < maxAgeMs) return this.#remembered.keys;
    this.#loading ??= this.#load(at).finally(() => {
      this.#loading = undefined;
    });
    return await this.#loading;
  }

  async #load(at: number): Promise<readonly StoredSigningKey[]> {
    const keys = await listSigningKeys(this.#parts.database);
    for (const known of [this.#publicKeys, this.#privateKeys]) {
      for (const keyId of known.keys()) if (!keys.some((key) => key.keyId === keyId)) known.delete(keyId);
    }
    this.#remembered = { keys, at };
    return keys;
  }

  /**
   * Makes the first key. All callers that need it at the same time get the same key, because making an RSA key takes some tenths of a second of
   * processor time.
   */
  #first(): Promise<StoredSigningKey> {
    this.#making ??= this.#makeFirst().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #makeFirst(): Promise<StoredSigningKey> {
    const at = this.#parts.now();
    const first = await insertSigningKey(this.#parts.database, await this.#make(1, at, at));
    this.#remembered = undefined;
    return first;
  }

  async #make(keyNumber: number, createdAt: Timestamp, activeAt: Timestamp): Promise<StoredSigningKey> {
    const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2_048 });
    const { kty = "", n = "", e = "" } = publicKey.export({ format: "jwk" });
    // The id is the thumbprint of RFC 7638, for which the fields must have this order.
    const keyId = hash("sha256", JSON.stringify({ e, kty, n }), "base64url");
    const plain = privateKey.export({ type: "pkcs8", format: "der" });
    return {
      keyNumber,
      keyId,
      publicKey: { kty, n, e },
      privateKey: this.#parts.secrets.seal(signingKeyPurpose, keyId, plain),
      createdAt,
      activeAt,
      retiredAt: null,
    };
  }

  #open({ keyId, privateKey }: StoredSigningKey): SigningKey {
    const known = this.#privateKeys.get(keyId);
    if (known !== undefined) return known;
    const plain = this.#unseal(keyId, privateKey);
    const jwk = createPrivateKey({ key: plain, format: "der", type: "pkcs8" }).export({ format: "jwk" });
    const key: SigningKey = { ...jwk, kid: keyId, alg: "RS256", use: "sig" };
    this.#privateKeys.set(keyId, key);
    return key;
  }

  #unseal(keyId: string, sealed: Buffer): Buffer {
    try {
      return this.#parts.secrets.open(signingKeyPurpose, keyId, sealed);
    } catch (cause) {
      const message =
        "The signing keys in the store were encrypted under another STEPWELL_SECRET_KEY. Start with that key, or name it in STEPWELL_OTHER_SECRET_KEYS.";
      throw new Error(message, { cause });
    }
  }
}

/** The purpose under which private keys are sealed; the context of each is its key id. */
export const signingKeyPurpose = "signing-key";
/** A key that no longer signs is kept as long as an id token lives, and a little longer for nodes that are late. */
const graceMs = idTokenSeconds * 1_000 + 10 * 60_000;
