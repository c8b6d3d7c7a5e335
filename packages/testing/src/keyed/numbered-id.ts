export function uuid(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

export function uuidOf(number: string): string {
  return `('00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
}
