/** A time of a day with its offset, as RFC 3339 writes it. */
export function isTime(text: string): boolean {
  const match = fullTime.exec(text);
  if (match === null) return false;
  const [, hourText, minuteText, secondText, sign, offsetHourText = "0", offsetMinuteText = "0"] = match;
  const [hour, minute, second] = [Number(hourText), Number(minuteText), Number(secondText)];
  const [offsetHour, offsetMinute] = [Number(offsetHourText), Number(offsetMinuteText)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // A leap second is inserted at the end of a day in UTC, and at no other time.
  const offset = (offsetHour * 60 + offsetMinute) * (sign === "-" ? -1 : 1);
  return (hour * 60 + minute - offset + minutesPerDay) % minutesPerDay === minutesPerDay - 1;
}

const fullTime = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const minutesPerDay = 24 * 60;

export function isDateTime(text: string): boolean {
  const separator = text[lengthOfDate];
  if (separator !== "T" && separator !== "t") return false;
  return isDate(text.slice(0, lengthOfDate)) && isTime(text.slice(lengthOfDate + 1));
}

const lengthOfDate = "2026-01-31".length;

export function isDate(text: string): boolean {
  const match = date.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

const date = /^(\d{4})-(\d{2})-(\d{2})$/;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Whole numbers of units, from large to small, such as P1Y2M3DT4H5M6S or PT30M. Weeks must be alone, as in P2W. */
export function isDuration(text: string): boolean {
  return duration.test(text);
}

const duration = /^P(?:\d+W|(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;
