/** HTML that is ready to send. Apart from the constant `style`, only `html` makes it, so that text from outside is always escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | string | number | undefined | false | readonly Content[];

/** Writes HTML. Every value is escaped unless it is markup itself. Attribute values must be in double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(parts.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

function render(value: Content): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(render).join("");
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
