/**
 * The keys that an organization may get when nobody chose one, the best one first. The first key is the organization's name, written with the
 * characters that a key may have. The second key also has the last characters of the organization's id. The third has the whole id, which no other
 * organization has.
 */
export function organizationKeysFor(name: string, organizationId: string): readonly string[] {
  const plain = plainKeyOf(name);
  const ending = organizationId.replaceAll("-", "");
  return [plain, withEnding(plain, ending.slice(-shortEnding)), withEnding(plain, ending)];
}

/** A key must not have the form of an id, because the command line accepts a key or an id in the same place. */
export const organizationKeyPattern = "^(?![0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$)[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$";

const maxLength = 64;
const shortEnding = 8;
const stem = "organization";
const key = new RegExp(organizationKeyPattern);

function plainKeyOf(name: string): string {
  const words = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
  const plain = trimmed(words);
  return key.test(plain) ? plain : trimmed(`${stem}-${plain}`);
}

function trimmed(text: string): string {
  return text.replace(/^-/, "").slice(0, maxLength).replace(/-$/, "");
}

function withEnding(plain: string, ending: string): string {
  return `${plain.slice(0, maxLength - 1 - ending.length)}-${ending}`;
}
