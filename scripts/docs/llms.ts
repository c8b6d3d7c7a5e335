import { lexer, type Tokens } from "marked";
import type { Pages } from "./pages.ts";
import { plainText } from "./plain-text.ts";

/** Writes the index of the pages in the format of llms.txt. The server puts its own address before each of the paths. */
export function llmsText({ index, sections }: Pages): string {
  const first = lexer(index.source).find((token): token is Tokens.Paragraph => token.type === "paragraph");
  const lists = sections.map(({ title, pages }) => {
    const lines = pages.map(({ title, file, description }) => {
      const link = `- [${title}](/docs/${file})`;
      return description === "" ? link : `${link}: ${description}`;
    });
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return `# Stepwell

> ${plainText(first?.text ?? "")}

${lists.join("\n")}
## API

- [OpenAPI document](/openapi.json): every operation with its permission, parameters, answers and errors
- [API reference](/docs/api): the same to read, as a page of HTML
`;
}
