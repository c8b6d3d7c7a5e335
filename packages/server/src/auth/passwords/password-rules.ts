import type { Problem } from "../../core/problem.ts";
import { commonPasswords } from "./common-passwords.ts";

const minLength = 12;
const maxLength = 256;

/**
 * Returns a password in the Unicode form in which it is hashed (NFKC). Without one common form, the same characters from another keyboard would be
 * another password. Returns undefined for a text that cannot be anybody's password, so that it need not be hashed.
 */
export function normalizePassword(password: string): string | undefined {
  // This check comes before anything that takes longer for a longer text.
  if (password.length > maxLength * 2 || password.includes("\0")) return undefined;
  const normalized = password.normalize("NFKC");
  const length = lengthOf(normalized);
  return length === 0 || length > maxLength ? undefined : normalized;
}

/**
 * Returns what is wrong with the new password at `pointer`; an empty list when nothing is wrong. A password must not be too short, too long or easy
 * to guess. No rule asks for certain kinds of characters, because such a rule only makes passwords harder to remember (NIST SP 800-63B).
 */
export function problemsOfNewPassword(password: string, email: string, pointer: string): Problem[] {
  const detail = problemOf(password, email);
  return detail === undefined ? [] : [{ pointer, detail }];
}

function problemOf(password: string, email: string): string | undefined {
  if (password.includes("\0")) return "must not contain the character NUL";
  const normalized = normalizePassword(password);
  if (normalized === undefined && password !== "") return `must have at most ${maxLength} characters`;
  if (normalized === undefined || lengthOf(normalized) < minLength) return `must have at least ${minLength} characters`;
  const plain = normalized.toLowerCase();
  if (plain === email.toLowerCase()) return "must not be the e-mail address";
  if (new Set(plain).size < 4 || commonPasswords.has(plain))
    return "is one of the passwords that an attacker would try first";
  return undefined;
}

/** Counts code points. What people see as one character is usually one code point, but may be two UTF-16 code units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
