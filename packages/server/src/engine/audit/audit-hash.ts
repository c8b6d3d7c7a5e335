import { createHmac } from "node:crypto";

/** `key` is the key that is derived from the service's secret key for the purpose `audit`. */
export function auditHash(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}
