import { createHmac, timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { UserCredentials } from "../../store/people/user-credentials.ts";

/**
 * Makes the value that a browser keeps after a sign-in. It says that somebody has signed in to this account in this browser before. It gives no
 * access. It only makes guesses in this browser count apart from guesses elsewhere, so that nobody can lock the owner of the account out. It is valid
 * for one user and one password: somebody who signed in with an older password from many browsers gets no separate guesses in those browsers. The
 * browser in which the password was changed still counts as a known device (`keptDeviceId`).
 */
export function createDevice(
  secrets: SecretBox,
  user: Pick<DeviceOwner, "userId" | "passwordChangedAt">,
  deviceId: string,
): string {
  const setAt = String(user.passwordChangedAt);
  return `${deviceId}.${setAt}.${signatureOf(secrets.keyFor(purpose), user, setAt, deviceId)}`;
}

/** Returns the id of the device if the value is valid for this user now; undefined for every other value. */
export function deviceIdIn(
  secrets: SecretBox,
  user: DeviceOwner | undefined,
  device: string | undefined,
): string | undefined {
  const parts = /^([0-9a-f-]{36})(?:\.(null|\d{1,16}))?\.([\w-]{43})$/.exec(device ?? "");
  if (user === undefined || parts === null) return undefined;
  const presentSetAt = String(user.passwordChangedAt);
  // Cookies of earlier releases do not say when the password was set.
  const [, deviceId = "", setAt = presentSetAt, signature = ""] = parts;
  if (setAt !== presentSetAt && deviceId !== user.keptDeviceId) return undefined;
  const isOurs = secrets.keysFor(purpose).some((key) => {
    return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(key, user, setAt, deviceId)));
  });
  return isOurs ? deviceId : undefined;
}

/** The cookie that keeps the value. A browser sends it only with requests of this site itself. */
export function knownDeviceCookie(isSecure: boolean) {
  return { name: isSecure ? "__Host-stepwell-device" : "stepwell-device", maxAgeSeconds: 400 * 86_400 };
}

const purpose = "device";

type DeviceOwner = Pick<UserCredentials, "userId" | "passwordChangedAt" | "keptDeviceId">;

/** `setAt` says which password was right in this browser: it is the time at which that password was set. */
function signatureOf(key: Buffer, { userId }: Pick<DeviceOwner, "userId">, setAt: string, deviceId: string): string {
  const signed = `${userId} ${setAt} ${deviceId}`;
  return createHmac("sha256", key).update(signed).digest("base64url");
}
