/** Four numbers up to 255. None may have a leading zero, because some programs read such a number as octal. */
export function isIPv4(text: string): boolean {
  return ipv4.test(text);
}

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);

/**
 * Eight groups, as in RFC 4291. `::` may replace one or more of them. A zone such as `%eth0` is not allowed, because it has a meaning only on one
 * machine.
 */
export function isIPv6(text: string): boolean {
  if (text.length > maxIPv6Length) return false;
  // An IPv4 address at the end stands for two groups.
  const end = text.lastIndexOf(":") + 1;
  const plain = isIPv4(text.slice(end)) ? `${text.slice(0, end)}0:0` : text;
  const halves = plain.split("::");
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const isComplete = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8;
  return isComplete && groups.every((group) => ipv6Group.test(group));
}

const maxIPv6Length = "1111:2222:3333:4444:5555:6666:255.255.255.255".length;
const ipv6Group = /^[0-9A-Fa-f]{1,4}$/;

/** Labels of letters, digits and hyphens, as in RFC 1123, within the lengths of RFC 1035. Punycode is not checked. */
export function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => label.length <= 63 && domainLabel.test(label));
}

const domainLabel = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;

/** An e-mail address of the usual form. Quoted local parts, comments and IP literals are not allowed. The lengths are those of RFC 5321. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at > 64 || text.length > 254) return false;
  return localPart.test(text.slice(0, at)) && isHostname(text.slice(at + 1));
}

const localPart = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** A URI reference with a scheme. */
export function isUri(text: string): boolean {
  return scheme.test(text) && hasUriCharacters(text);
}

/**
 * A URI, or a reference that is resolved against one, such as a path, a query or a fragment. In the path of such a reference, a colon may only come
 * after a slash.
 */
export function isUriReference(text: string): boolean {
  return (scheme.test(text) || !colonInFirstSegment.test(text)) && hasUriCharacters(text);
}

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const colonInFirstSegment = /^[^/?#:]*:/;

/**
 * Checks that all characters are allowed by RFC 3986, and that there is at most one fragment. It searches for a wrong character, so the time is
 * linear in the length of the text.
 */
function hasUriCharacters(text: string): boolean {
  const hasOneFragment = text.indexOf("#") === text.lastIndexOf("#");
  return hasOneFragment && !notInUri.test(text) && !brokenEscape.test(text);
}

const notInUri = /[^A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%-]/;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;
