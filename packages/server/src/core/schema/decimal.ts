/**
 * Whether a number is a multiple of another one. Both are taken as decimals: 2.07 is a multiple of 0.01, although dividing them as binary fractions
 * gives 206.99999999999997.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const dividend = decimalOf(value);
  const by = decimalOf(divisor);
  if (dividend.digits === 0n) return true;
  const shift = dividend.exponent - by.exponent;
  // Written with the exponent of the dividend, the divisor would end in 0, and so would each multiple of the divisor. The dividend's digits do not.
  if (shift < 0) return false;
  return (dividend.digits * powerOfTen(shift, by.digits)) % by.digits === 0n;
}

/** A number without its sign, as `digits` times ten to the power of `exponent`. The digits do not end in 0, unless they are 0. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Returns the shortest decimal that stands for the number. JSON writes the number as the same decimal. */
function decimalOf(value: number): Decimal {
  const [mantissa = "", power = "0"] = Math.abs(value).toExponential().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  // These digits do not end in 0: the text has one digit before the point, and its fraction does not end in 0.
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

/** Ten to the power of `exponent`, modulo `modulus`. The power itself is never computed, because it may have six hundred digits. */
function powerOfTen(exponent: number, modulus: bigint): bigint {
  let result = 1n;
  let base = 10n % modulus;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}
