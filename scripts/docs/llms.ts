import type { Pages } from "./pages.ts";

/** Writes the index of the pages in the format of llms.txt. The server puts its own address before each of the paths. */
export function llmsText({ sections }: Pages): string {
  const lists = sections.map(({ title, pages }) => {
    const lines = pages.map(({ title, file, description }) => {
      const link = `- [${title}](/docs/${file})`;
      return description === "" ? link : `${link}: ${description}`;
    });
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return `# Stepwell

> Stepwell is a workflow service that you host. You register a workflow (a JSON definition of steps) and submit jobs over HTTP. The service runs the steps of the jobs, waits for events, and never loses anything that it has acknowledged.

${lists.join("\n")}
## API

- [OpenAPI document](/openapi.json): every operation with its permission, parameters, answers and errors
- [API reference](/docs/api): the same as an HTML page for people
`;
}
