import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { lexer, type Token, type Tokens } from "marked";
import { plainText } from "./plain-text.ts";

/** A page that users read, made from a file of `docs/`. */
export interface Page {
  /** The name of the page's file in `docs/`. */
  readonly file: string;
  readonly source: string;
  readonly address: string;
  /** The name of the page in the index. */
  readonly title: string;
  /** The description of the page in the index. */
  readonly description: string;
}

export interface Pages {
  /** `docs/README.md`, which lists the pages in their order. */
  readonly index: Page;
  readonly sections: readonly { readonly title: string; readonly pages: readonly Page[] }[];
}

/** The address of the reference of the API. Because of it, the page about the HTTP interface, `api.md`, has an address that differs from its name. */
export const referenceAddress = "/docs/api";
const otherAddresses: Readonly<Record<string, string>> = { "README.md": "/docs", "api.md": "/docs/http-api" };

/** Reads the list of pages: the files in this folder to which the index links, below its headings. */
export function readPages(folder: string): Pages {
  const index = readPage(folder, "README.md", { title: "Documentation", description: "" });
  const sections: { title: string; pages: Page[] }[] = [];
  const known = new Set(["README.md"]);
  for (const token of lexer(index.source)) {
    if (token.type === "heading" && token.depth === 2) sections.push({ title: plainText(token.text), pages: [] });
    for (const block of blocksOf(token)) {
      for (const { file, ...words } of linksOf(block)) {
        if (known.has(file)) continue;
        known.add(file);
        sections.at(-1)?.pages.push(readPage(folder, file, words));
      }
    }
  }
  const filled = sections.filter(({ pages }) => pages.length > 0);
  const titles = filled.map(({ title }) => title);
  return { index: { ...index, source: withoutOtherSections(index.source, titles) }, sections: filled };
}

/** Removes the parts of the index that only link to pages that are not served, since only plain text would be left of them. */
function withoutOtherSections(source: string, titles: readonly string[]): string {
  const parts = source.split(/^(?=## )/m);
  return parts
    .filter((part) => !part.startsWith("## ") || titles.includes(plainText(part.split("\n")[0]?.slice(3) ?? "")))
    .join("");
}

export function allPages({ index, sections }: Pages): readonly Page[] {
  return [index, ...sections.flatMap(({ pages }) => pages)];
}

/**
 * Returns the address on the site that a link of a page leads to. Undefined for files that are not served, such as
 * sources.
 */
export function addressOf(href: string, pages: readonly Page[]): string | undefined {
  if (/^([a-z][a-z0-9+.-]*:|#)/i.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const file = posix.normalize(path);
  if (/^images\/[\w.-]+$/.test(file)) return `/docs/${file}`;
  const page = pages.find((one) => one.file === file);
  if (page === undefined) return undefined;
  return anchor === undefined ? page.address : `${page.address}#${anchor}`;
}

function readPage(folder: string, file: string, words: Pick<Page, "title" | "description">): Page {
  const source = readFileSync(join(folder, file), "utf8");
  const heading = lexer(source).find((token): token is Tokens.Heading => token.type === "heading");
  if (heading?.depth !== 1) throw new Error(`docs/${file} must begin with its title, a heading of the first level.`);
  const address = otherAddresses[file] ?? `/docs/${file.replace(/\.md$/, "")}`;
  return { file, source, address, ...words };
}

/** The parts of a block that can describe a page: the items of a list, the rows of a table, or a paragraph itself. */
function blocksOf(token: Token): readonly string[] {
  if (token.type === "list") return (token as Tokens.List).items.map(({ text }) => text);
  if (token.type === "table") {
    return (token as Tokens.Table).rows.map((row) => row.map(({ text }) => text).join(" — "));
  }
  return token.type === "paragraph" ? [token.text] : [];
}

/** Returns the pages to which the links of a block lead. If the block begins with a link, the rest of the block describes the page of this link. */
function linksOf(block: string): Pick<Page, "file" | "title" | "description">[] {
  return [...block.matchAll(/\[([^\]]*)\]\(([\w.-]+\.md)(?:#[^)]*)?\)/g)].map(
    ({ 0: link, 1: text = "", 2: file = "", index }) => {
      const isFirst = /^\W*$/.test(block.slice(0, index));
      const rest = isFirst ? block.slice(index + link.length) : "";
      return {
        file,
        title: plainText(text),
        description: plainText(rest).replace(/^\W+/, "").replace(/\s+/g, " ").trim(),
      };
    },
  );
}
