import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiDocument } from "./docs/document.ts";
import { type FrameFiles, framed } from "./docs/frame.ts";
import { llmsText } from "./docs/llms.ts";
import { type Heading, type Passage, renderMarkdown, servedMarkdown } from "./docs/markdown.ts";
import { addressOf, allPages, type Page, type Pages, readPages, referenceAddress } from "./docs/pages.ts";
import { renderReference } from "./docs/reference.ts";
import { filesBelow, stampOf } from "./stamp.ts";

const source = "docs";
const target = "packages/server/dist/docs";
/** The stamp is beside the directory of the built files, since all files in the directory are served. */
const stampFile = "packages/server/dist/docs.stamp";
const manifestFile = "packages/server/dist/dashboard/manifest.json";

/**
 * Builds the pages of the documentation for users, the reference of the API and the index of the search, if any of
 * their sources changed.
 */
export async function buildDocs(): Promise<void> {
  const stamp = stampOfInputs();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  rmSync(stampFile, { force: true });
  rmSync(target, { recursive: true, force: true });
  mkdirSync(join(target, "assets"), { recursive: true });
  const pages = readPages(source);
  const known = allPages(pages);
  const leadsTo = (href: string) => addressOf(href, known);
  const reference = renderReference(await readApiDocument());
  const rendered = known.map((page) => ({ page, ...renderMarkdown(page.source, leadsTo) }));
  const files = {
    ...filesOfDashboard(),
    index: writeIndex([
      ...rendered.flatMap(({ page, passages }) => passages.map((passage) => foundAt(page, passage))),
      ...reference.passages.map((passage) => foundAt({ address: referenceAddress, title: "API reference" }, passage)),
    ]),
  };
  for (const { page, content, headings } of rendered) {
    const { title, description, address, file } = page;
    const markdown = `/docs/${file}`;
    const contents = contentsOf(headings);
    write(fileOf(address), framed({ title, description, address, content, contents, markdown }, pages, files));
    write(file, servedMarkdown(page.source, leadsTo));
  }
  writeReference(reference, pages, files);
  write("llms.txt", llmsText(pages));
  copyImages();
  writeFileSync(stampFile, stamp);
}

function stampOfInputs(): string {
  const documents = readdirSync(source).filter((file) => file.endsWith(".md"));
  return stampOf([
    ...documents.map((file) => join(source, file)).sort(),
    ...filesBelow(join(source, "images")),
    ...filesBelow("scripts/docs"),
    ...filesBelow("packages/server/src"),
    ...["scripts/build-docs.ts", manifestFile, "packages/server/package.json", "package-lock.json"],
  ]);
}

/** The document is loaded from the sources only when it is needed, since this takes as long as starting a service without its store. */
async function readApiDocument(): Promise<ApiDocument> {
  const { apiDocument } = await import("../packages/server/src/http/api-document.ts");
  const { readConfig } = await import("../packages/server/src/config.ts");
  return (await apiDocument(readConfig({}))) as ApiDocument;
}

interface ManifestEntry {
  readonly file: string;
  readonly css?: readonly string[];
}

function filesOfDashboard(): Omit<FrameFiles, "index"> {
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, ManifestEntry | undefined>;
  const entry = manifest["src/docs/main.ts"];
  const icon = manifest["src/theme/icon.svg"];
  const [style] = entry?.css ?? [];
  if (entry === undefined || icon === undefined || style === undefined)
    throw new Error("The dashboard was built without the script, the style or the icon of the documentation.");
  return { script: `/${entry.file}`, style: `/${style}`, icon: `/${icon.file}` };
}

/** One row of the search's index: the address below `/docs`, the page, the heading and the text. */
type Row = readonly [address: string, page: string, heading: string, text: string];

function foundAt({ address, title }: Pick<Page, "address" | "title">, { id, heading, text }: Passage): Row {
  const below = address.slice("/docs".length);
  return [id === undefined ? below : `${below}#${id}`, title, heading, text];
}

/** Writes the index of the search. Returns its address, which changes with its content. */
function writeIndex(rows: readonly Row[]): string {
  const text = JSON.stringify(rows);
  const name = `search-${createHash("sha256").update(text).digest("base64url").slice(0, 8)}.json`;
  write(join("assets", name), text);
  return `/docs/assets/${name}`;
}

function writeReference(
  { content, contents }: ReturnType<typeof renderReference>,
  pages: Pages,
  files: FrameFiles,
): void {
  const title = "API reference";
  const description = "Every operation: permission, parameters, body, answers and errors.";
  const page = { title, description, address: referenceAddress, content, contents, markdown: undefined };
  write(fileOf(referenceAddress), framed(page, pages, files));
}

/** Headings of the second level, with those of the third below them. */
function contentsOf(headings: readonly Heading[]) {
  const contents: { id: string; text: string; below: { id: string; text: string; below: [] }[] }[] = [];
  for (const { id, text, level } of headings) {
    if (level === 2) contents.push({ id, text, below: [] });
    if (level === 3) contents.at(-1)?.below.push({ id, text, below: [] });
  }
  return contents;
}

function fileOf(address: string): string {
  return `${address.slice("/docs/".length) || "index"}.html`;
}

function write(file: string, text: string): void {
  writeFileSync(join(target, file), text);
}

/** Copies only the images to which a page refers. */
function copyImages(): void {
  const pages = readdirSync(target)
    .filter((file) => file.endsWith(".html"))
    .map((file) => readFileSync(join(target, file), "utf8"));
  const images = new Set(pages.flatMap((text) => text.match(/(?<==")\/docs\/images\/[\w.-]+/g) ?? []));
  for (const image of images) {
    const name = image.slice("/docs/".length);
    cpSync(join(source, name), join(target, name));
  }
}
