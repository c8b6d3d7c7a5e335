/** Counts the characters of a text as JSON Schema does: the two halves of a surrogate pair are one character. */
export function codePointCount(text: string): number {
  let pairs = 0;
  for (let index = 1; index < text.length; index++) {
    const isPair = (text.charCodeAt(index - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(index) & 0xfc00) === 0xdc00;
    if (isPair) pairs++;
  }
  return text.length - pairs;
}
