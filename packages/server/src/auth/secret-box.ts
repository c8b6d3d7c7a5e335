import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * Encrypts what the store keeps and a thief of the store must not read, with AES-256-GCM. Each purpose has a key of its own, derived from
 * the service's secret key, so that nothing sealed for one can be passed off as another.
 */
export class SecretBox {
  readonly #secretKey: Buffer;

  constructor(secretKey: Buffer) {
    this.#secretKey = secretKey;
  }

  /** A key of 32 bytes for one purpose, the same on every node. */
  keyFor(purpose: string): Buffer {
    return Buffer.from(hkdfSync("sha256", this.#secretKey, "", `stepwell ${purpose}`, keyLength));
  }

  /** `context` says whose it is (a row's key): a value that was moved to another row does not open there. */
  seal(purpose: string, context: string, plain: Buffer | string): Buffer {
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv(algorithm, this.keyFor(purpose), iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
  }

  /** Throws when the value was sealed under another secret key, for another purpose or context, or was changed. */
  open(purpose: string, context: string, sealed: Buffer): Buffer {
    const iv = sealed.subarray(0, ivLength);
    const tag = sealed.subarray(ivLength, ivLength + tagLength);
    const decipher = createDecipheriv(algorithm, this.keyFor(purpose), iv).setAAD(Buffer.from(context)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(ivLength + tagLength)), decipher.final()]);
  }
}

const algorithm = "aes-256-gcm";
const keyLength = 32;
const ivLength = 12;
const tagLength = 16;
