/** Writes docs/configuration.md from the settings themselves; with `--check` only says whether it is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { settings } from "../packages/server/src/config.ts";

const file = "docs/configuration.md";
const code = (text: string | undefined) => (text ? `\`${text}\`` : "");
const rows = Object.values(settings).map(({ variable, fileVariable, fallback, meaning }) => {
  const variables = [variable, fileVariable].map(code).filter(Boolean).join(" or ");
  return `| ${variables} | ${code(fallback)} | ${meaning} |`;
});
const text = `# Configuration

Settings come from the environment, are read once at start, and stop the start when one is wrong. Secrets may also come from files: \`DATABASE_URL_FILE=/run/secrets/database_url\`
names a file that holds the value alone. A setting that has both a value and a file stops the start. This page is generated from
\`packages/server/src/config.ts\` by \`node scripts/configuration-doc.ts\`.

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
