import { createHmac, timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { UserCredentials } from "../../store/people/user-credentials.ts";

/**
 * The value that a browser keeps after a sign-in, and that says: from here somebody signed in to this account before. It lets nobody in;
 * it only counts guesses from here apart from guesses from elsewhere, so that nobody can lock an owner out. It is of one user and one
 * password: who once knew an older one gets no guesses of their own.
 */
export function createDevice(secrets: SecretBox, user: DeviceOwner, deviceId: string): string {
  return `${deviceId}.${signatureOf(secrets.keyFor(purpose), user, deviceId)}`;
}

/** The id of a device that is this user's; undefined for every other value. */
export function deviceIdIn(
  secrets: SecretBox,
  user: DeviceOwner | undefined,
  device: string | undefined,
): string | undefined {
  const parts = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(device ?? "");
  const [, deviceId = "", signature = ""] = parts ?? [];
  if (user === undefined || parts === null) return undefined;
  const isOurs = secrets.keysFor(purpose).some((key) => {
    return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(key, user, deviceId)));
  });
  return isOurs ? deviceId : undefined;
}

const purpose = "device";

type DeviceOwner = Pick<UserCredentials, "userId" | "passwordChangedAt">;

function signatureOf(key: Buffer, { userId, passwordChangedAt }: DeviceOwner, deviceId: string): string {
  const signed = `${userId} ${passwordChangedAt} ${deviceId}`;
  return createHmac("sha256", key).update(signed).digest("base64url");
}
