import { createHmac } from "node:crypto";

/** HMAC-SHA-256 in hexadecimal. The key is the one that the service's secret key gives for the purpose `audit`. */
export function auditHash(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}
