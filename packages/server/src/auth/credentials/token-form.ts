import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** An API token names its organization, so that its look-up goes to one shard. A user token names its user. */
export type TokenKind = "organization" | "user";

export interface ParsedToken {
  readonly kind: TokenKind;
  /** The id of the organization or the user. */
  readonly ownerId: string;
}

export interface NewToken {
  /** The token itself. Shown once and stored nowhere. */
  readonly token: string;
  readonly tokenHash: Buffer;
  /** The beginning of the token, which is enough to recognize it but not to use it. */
  readonly tokenPrefix: string;
}

const prefixes = { organization: "stw", user: "stu" } as const;
const invitationPrefix = "sti";
const clientIdForm = /^stc_([0-9A-Za-z]{22})_([0-9A-Za-z]{22})$/;
const form = /^(stw|stu|sti)_([0-9A-Za-z]{22})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Creates a token of the form `stw_<owner>_<secret><checksum>` (`stu_…` for a user): 22, 32 and 6 base62 characters. The secret has 190 bits. */
export function createToken(kind: TokenKind, ownerId: string): NewToken {
  return create(prefixes[kind], ownerId);
}

/**
 * Creates the code at the end of an invitation's link. It has the form of a token, with the organization's id, and is accepted only for the
 * invitation.
 */
export function createInvitationCode(organizationId: string): { readonly code: string; readonly codeHash: Buffer } {
  const { token, tokenHash } = create(invitationPrefix, organizationId);
  return { code: token, codeHash: tokenHash };
}

/** Reads the kind and the owner from a token; undefined for a text that cannot be a token. The checksum rejects a mistyped one without a look-up. */
export function parseToken(text: string): ParsedToken | undefined {
  const parsed = parse(text);
  if (parsed === undefined || parsed.prefix === invitationPrefix) return undefined;
  return { kind: parsed.prefix === prefixes.organization ? "organization" : "user", ownerId: parsed.ownerId };
}

/** Returns the organization that an invitation's code names; undefined for a text that cannot be such a code. */
export function parseInvitationCode(text: string): string | undefined {
  const parsed = parse(text);
  return parsed?.prefix === invitationPrefix ? parsed.ownerId : undefined;
}

/**
 * Creates the client id of an organization's OAuth client: `stc_<organization>_<id>`. It is public and gives no access. `id` is a new UUID version 7,
 * which begins with the time, so the client ids of an organization sort in the order of their creation.
 */
export function createClientId(organizationId: string, id: string): string {
  return `stc_${idToBase62(organizationId)}_${idToBase62(id)}`;
}

/** Returns the organization that a client id names; undefined for every other text, such as the ids of the service's own clients. */
export function organizationOfClient(clientId: string): string | undefined {
  const [, organization, id] = clientIdForm.exec(clientId) ?? [];
  if (organization === undefined || id === undefined || base62ToId(id) === undefined) return undefined;
  return base62ToId(organization);
}

/** Returns the `tokenPrefix` of a token that a caller sent. */
export function prefixOf(token: string): string {
  return token.slice(0, "stw_".length + idLength + "_".length + shownSecretLength);
}

/** The secret is long and random, so nobody can guess it. A plain hash is enough; a slow one is not needed. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

function create(prefix: string, ownerId: string): NewToken {
  const start = `${prefix}_${idToBase62(ownerId)}_`;
  const unchecked = start + randomBase62(secretLength);
  const token = unchecked + checksumOf(unchecked);
  return { token, tokenHash: hashToken(token), tokenPrefix: token.slice(0, start.length + shownSecretLength) };
}

function parse(text: string): { readonly prefix: string; readonly ownerId: string } | undefined {
  const parts = form.exec(text);
  if (parts === null || checksumOf(text.slice(0, -checksumLength)) !== parts[4]) return undefined;
  const ownerId = base62ToId(parts[2] ?? "");
  return ownerId === undefined ? undefined : { prefix: parts[1] ?? "", ownerId };
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base = BigInt(alphabet.length);
const idLength = 22;
const secretLength = 32;
const checksumLength = 6;
const shownSecretLength = 4;

/** Returns the CRC-32 of the rest of the token. It shows typing mistakes, and lets scanners for secrets tell a token from random text. */
function checksumOf(text: string): string {
  return toBase62(BigInt(crc32(text)), checksumLength);
}

function idToBase62(id: string): string {
  return toBase62(BigInt(`0x${id.replaceAll("-", "")}`), idLength);
}

function base62ToId(text: string): string | undefined {
  let value = 0n;
  for (const character of text) value = value * base + BigInt(alphabet.indexOf(character));
  if (value >= 1n << 128n) return undefined;
  const hex = value.toString(16).padStart(32, "0");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function toBase62(value: bigint, length: number): string {
  let rest = value;
  let text = "";
  while (text.length < length) {
    text = alphabet.charAt(Number(rest % base)) + text;
    rest /= base;
  }
  return text;
}

/**
 * Returns evenly distributed characters of base62. Bytes of 248 (the largest multiple of 62 that fits in a byte) or more are discarded, because they
 * would make the first characters of the alphabet more frequent.
 */
export function randomBase62(length: number): string {
  const bound = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < bound && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}
