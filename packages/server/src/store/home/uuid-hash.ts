/**
 * PostgreSQL's own hash of a uuid (`uuid_hash`), by which Citus finds the shard of an organization: Bob Jenkins' hash of 16 bytes, read as whole
 * numbers in the byte order of the database's machine. This code assumes little-endian, as on x86-64 and ARM64. Returns a signed 32-bit number.
 */
export function hashOfUuid(uuid: string): number {
  const bytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
  const [first, second, third, fourth] = [0, 4, 8, 12].map((at) => bytes.readInt32LE(at)) as Words;
  // The first twelve bytes are added to the three parts of the state and mixed in. Then the last four bytes are added and mixed in.
  let a = (start + first) | 0;
  let b = (start + second) | 0;
  let c = (start + third) | 0;
  for (const [left, middle, right] of mixing) {
    a = (a - c) ^ rotated(c, left);
    c = (c + b) | 0;
    b = (b - a) ^ rotated(a, middle);
    a = (a + c) | 0;
    c = (c - b) ^ rotated(b, right);
    b = (b + a) | 0;
  }
  a = (a + fourth) | 0;
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  c = ((c ^ b) - rotated(b, 24)) | 0;
  return c;
}

type Words = [number, number, number, number];

/** The state before the first byte, which depends only on the length of the data. */
const start = (0x9e37_79b9 + 16 + 3_923_095) | 0;
/** For each round, the numbers of bits of its three rotations. */
const mixing = [
  [4, 6, 8],
  [16, 19, 4],
] as const;

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
