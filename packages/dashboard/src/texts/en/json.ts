import { countOf } from "../plural.ts";

export const json = {
  items: (count: number) => `[${countOf(count, "item", "items")}]`,
  fields: (count: number) => `{${countOf(count, "field", "fields")}}`,
  more: (count: number) => `Show more (${count.toLocaleString("en")} left)`,
  wholeText: (length: number) => `Show all ${length.toLocaleString("en")} characters`,
} as const;
