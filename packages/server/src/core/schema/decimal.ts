/**
 * Whether a number is a multiple of another, both taken as decimals: 2.07 is a multiple of 0.01, although dividing the binary fractions gives
 * 206.99999999999997.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const dividend = decimalOf(value);
  const by = decimalOf(divisor);
  if (dividend.digits === 0n) return true;
  const shift = dividend.exponent - by.exponent;
  // The digits of the dividend do not end in 0, so a divisor that ends in 0 cannot divide them.
  if (shift < 0) return false;
  return (dividend.digits * powerOfTen(shift, by.digits)) % by.digits === 0n;
}

/** The number is `digits` times ten to the `exponent`; the digits do not end with 0, unless they are 0. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Reads the shortest text that stands for the number, which is what JSON writes. */
function decimalOf(value: number): Decimal {
  const [mantissa = "", power = "0"] = Math.abs(value).toExponential().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  // The text has no 0 at the end of a fraction, and no more than one digit before it.
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

/** Ten to the power of `exponent`, modulo `modulus`: the power itself may have six hundred digits. */
function powerOfTen(exponent: number, modulus: bigint): bigint {
  let result = 1n;
  let base = 10n % modulus;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}
