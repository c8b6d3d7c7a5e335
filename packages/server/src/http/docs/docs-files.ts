import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Asset, assetOfText, etagOfContent } from "../door/answers/static-asset.ts";

interface Place {
  /** The prefix of every path, without a slash at the end. */
  readonly basePath: string;
  /** The address at which clients reach the service. It is known once the service listens. */
  readonly publicUrl: () => string;
}

/** The path is right both for the sources and for the compiled files. */
const folder = fileURLToPath(new URL("../../../dist/docs/", import.meta.url));

/** The built documentation. The files are listed once, at the first request for one. Only these are served, so no path can lead out of the folder. */
export class DocsFiles {
  readonly #place: Place;
  readonly #assets = new Map<string, Asset>();
  #names: ReadonlySet<string> | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Returns a page, a page as Markdown, an image or an asset, by its path below `/docs`. */
  file(path: string): Asset | undefined {
    const name = path === "" ? "index.html" : extname(path) === "" ? `${path}.html` : path;
    return name.endsWith(".html") && extname(path) !== "" ? undefined : this.#asset(name);
  }

  llms(): Asset | undefined {
    return this.#asset("llms.txt");
  }

  #asset(name: string): Asset | undefined {
    this.#names ??= listNames();
    if (!this.#names.has(name)) return undefined;
    const asset = this.#assets.get(name) ?? readAsset(name, this.#place);
    this.#assets.set(name, asset);
    return asset;
  }
}

function listNames(): ReadonlySet<string> {
  if (!existsSync(folder)) return new Set();
  return new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/")));
}

function readAsset(name: string, { basePath, publicUrl }: Place): Asset {
  const ending = extname(name);
  const type = types[ending];
  const content = readFileSync(join(folder, name));
  if (type === undefined) {
    const imageType = imageTypes[ending] ?? "application/octet-stream";
    return { type: imageType, etag: etagOfContent(content), encodings: new Set(), read: () => content };
  }
  const text = content.toString();
  if (ending === ".html") return assetOfText(type, text.replaceAll('="/', `="${basePath}/`));
  return assetOfText(type, name === "llms.txt" ? text.replaceAll("](/", `](${publicUrl()}/`) : text);
}

/** The types of text files, which are compressed for clients that accept compressed answers. */
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

const imageTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".webp": "image/webp",
};
