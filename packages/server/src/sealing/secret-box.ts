import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * Encrypts with AES-256-GCM what a thief of the store must not be able to read. Each purpose has its own key, derived from the service's secret key,
 * so that nothing sealed for one purpose can be passed off as sealed for another. While the secret key is being changed, there are further secret
 * keys: they open what was sealed under them, and seal nothing.
 */
export class SecretBox {
  readonly #secretKeys: readonly [Buffer, ...Buffer[]];

  constructor(secretKey: Buffer, others: readonly Buffer[] = []) {
    this.#secretKeys = [secretKey, ...others];
  }

  /** Returns a key of 32 bytes for one purpose. It is the same on every node. */
  keyFor(purpose: string): Buffer {
    return derive(this.#secretKeys[0], purpose);
  }

  /** Returns one key for the purpose from each secret key. The key from the present secret key comes first. */
  keysFor(purpose: string): readonly Buffer[] {
    return this.#secretKeys.map((secretKey) => derive(secretKey, purpose));
  }

  /** Encrypts a value. `context` says to which row of the store the value belongs: if it is moved to another row, it cannot be opened there. */
  seal(purpose: string, context: string, plain: Buffer | string): Buffer {
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv(algorithm, this.keyFor(purpose), iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
  }

  /** Throws when the value was sealed under an unknown secret key or for another purpose or context, or was changed. */
  open(purpose: string, context: string, sealed: Buffer): Buffer {
    const plain = openWithOneOf(this.keysFor(purpose), context, sealed);
    if (plain !== undefined) return plain;
    throw new Error("A sealed value cannot be decrypted: it was changed, or sealed with another secret key.");
  }

  /**
   * Returns the value, sealed again under the present key. Returns undefined if it is sealed under that key already, or if no key here opens it: one
   * such value must not keep the others from being sealed again.
   */
  reseal(purpose: string, context: string, sealed: Buffer): Buffer | undefined {
    const [current, ...others] = this.keysFor(purpose);
    if (current === undefined || openWith(current, context, sealed) !== undefined) return undefined;
    const plain = openWithOneOf(others, context, sealed);
    return plain === undefined ? undefined : this.seal(purpose, context, plain);
  }
}

function derive(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "", `stepwell ${purpose}`, keyLength));
}

function openWithOneOf(keys: readonly Buffer[], context: string, sealed: Buffer): Buffer | undefined {
  for (const key of keys) {
    const plain = openWith(key, context, sealed);
    if (plain !== undefined) return plain;
  }
  return undefined;
}

/** Returns undefined if the value was sealed under another key or for another context, or was changed: the cipher cannot tell these cases apart. */
function openWith(key: Buffer, context: string, sealed: Buffer): Buffer | undefined {
  const iv = sealed.subarray(0, ivLength);
  const tag = sealed.subarray(ivLength, ivLength + tagLength);
  try {
    const decipher = createDecipheriv(algorithm, key, iv).setAAD(Buffer.from(context)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(ivLength + tagLength)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const algorithm = "aes-256-gcm";
const keyLength = 32;
const ivLength = 12;
const tagLength = 16;
