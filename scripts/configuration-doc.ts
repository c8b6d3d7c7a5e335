/** Writes docs/configuration.md from the settings themselves. With `--check` it only reports whether the file is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { settings } from "../packages/server/src/config.ts";

const file = "docs/configuration.md";
const code = (text: string | undefined) => (text ? `\`${text}\`` : "");
const rows = Object.values(settings).map(({ variable, fileVariable, fallback, meaning }) => {
  const variables = [variable, fileVariable].map(code).filter(Boolean).join(" or ");
  return `| ${variables} | ${code(fallback)} | ${meaning} |`;
});
const text = `# Configuration

Stepwell reads its settings from environment variables, once at start. A wrong value stops the start, and the error names every wrong setting. A secret may also come from a file: \`DATABASE_URL_FILE=/run/secrets/database_url\`
names a file that contains only the value. Do not set both the variable and its file; that stops the start, too. \`node scripts/configuration-doc.ts\` generates this page from \`packages/server/src/config.ts\`.

| variable | default | meaning and reason |
|---|---|---|
${rows.join("\n")}
`;

if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== text) {
    process.stderr.write(`${file} is out of date: run node scripts/configuration-doc.ts\n`);
    process.exitCode = 1;
  }
} else writeFileSync(file, text);
