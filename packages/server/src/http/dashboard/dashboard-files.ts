import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Asset, etagOfContent } from "../door/answers/static-asset.ts";

interface Place {
  /** The prefix of every path, without a slash at the end. */
  readonly basePath: string;
  /** The address at which clients reach the service. It is known once the service listens. */
  readonly publicUrl: () => string;
}

/** The path is right both for the sources and for the compiled files. */
const folder = fileURLToPath(new URL("../../../dist/dashboard/", import.meta.url));

/** The built dashboard. The assets are listed once, at the first request for one. Only these are served, so no name can lead out of the folder. */
export class DashboardFiles {
  readonly #place: Place;
  #assets: ReadonlyMap<string, Asset> | undefined;
  #page: Asset | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Returns undefined if the dashboard was not built. */
  page(): Asset | undefined {
    this.#page ??= readPage(this.#place);
    return this.#page;
  }

  asset(name: string): Asset | undefined {
    this.#assets ??= listAssets();
    return this.#assets.get(name);
  }
}

/** The page is built without the address of the service, which is inserted here. */
function readPage({ basePath, publicUrl }: Place): Asset | undefined {
  const path = join(folder, "index.html");
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8")
    .replaceAll('"./assets/', `"${basePath}/assets/`)
    .replace('<meta name="stepwell-base-url" content=""', `<meta name="stepwell-base-url" content="${publicUrl()}"`);
  const content = Buffer.from(text);
  return { type: "text/html; charset=utf-8", etag: etagOfContent(content), encodings: new Set(), read: () => content };
}

function listAssets(): ReadonlyMap<string, Asset> {
  const assets = join(folder, "assets");
  const names = existsSync(assets) ? readdirSync(assets) : [];
  const known = new Set(names);
  const plain = names.filter((name) => !packed.some(([, ending]) => name.endsWith(ending)));
  return new Map(plain.map((name) => [name, assetOf(assets, name, known)]));
}

const packed = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** The content is read when it is first asked for, and then kept in memory: all files together are a few megabytes. */
function assetOf(assets: string, name: string, known: ReadonlySet<string>): Asset {
  const contents = new Map<string, Buffer>();
  const encodings = packed.filter(([, ending]) => known.has(name + ending)).map(([encoding]) => encoding);
  return {
    type: types[extname(name)] ?? "application/octet-stream",
    etag: `"${name}"`,
    encodings: new Set<string>(encodings),
    read(encoding) {
      const file = name + (packed.find(([one]) => one === encoding)?.[1] ?? "");
      const content = contents.get(file) ?? readFileSync(join(assets, file));
      contents.set(file, content);
      return content;
    },
  };
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json",
};
