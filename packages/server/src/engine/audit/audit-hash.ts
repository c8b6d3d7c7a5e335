import { createHmac } from "node:crypto";

/** Computes HMAC-SHA-256 in hexadecimal. The key is the one that is derived from the service's secret key for the purpose `audit`. */
export function auditHash(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}
