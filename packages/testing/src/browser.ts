/** The parts of a page that tests look at. */
export interface ShownPage {
  readonly status: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** A browser without JavaScript. It follows redirects, stores cookies with their paths, and submits forms. */
export class Browser {
  readonly #userAgent: string;
  readonly #cookies = new Map<string, Cookie>();

  constructor(userAgent = "Test browser") {
    this.#userAgent = userAgent;
  }

  /** Opens an address and follows redirects, except to an address that `isArrival` recognizes: there, another program waits for the browser. */
  async open(url: URL | string, isArrival: (url: URL) => boolean = () => false): Promise<ShownPage> {
    return await this.#follow(new URL(url), { method: "GET" }, isArrival);
  }

  /** Fills in and submits the first form of the page that has these fields. */
  async submit(
    page: ShownPage,
    fields: Record<string, string>,
    isArrival: (url: URL) => boolean = () => false,
    headers: Record<string, string> = {},
  ): Promise<ShownPage> {
    const form = formsIn(page.text).find(({ names }) => Object.keys(fields).every((name) => names.has(name)));
    if (form === undefined) throw new Error(`No form takes ${Object.keys(fields).join(", ")}: ${page.text}`);
    const body = new URLSearchParams({ ...form.hidden, ...fields });
    const action = new URL(form.action, page.url);
    return await this.#follow(
      action,
      { method: "POST", body, headers: { origin: page.url.origin, ...headers } },
      isArrival,
    );
  }

  cookieNames(): string[] {
    return [...this.#cookies.keys()].sort();
  }

  /** The Cookie header that the browser would send to this address. */
  cookieHeader(url: URL): string {
    return this.#cookiesFor(url);
  }

  /** Returns a second browser with the same cookies, as a thief of the cookies would have. */
  clone(): Browser {
    const other = new Browser(this.#userAgent);
    for (const [name, cookie] of this.#cookies) other.#cookies.set(name, cookie);
    return other;
  }

  async #follow(start: URL, init: RequestInit, isArrival: (url: URL) => boolean): Promise<ShownPage> {
    let url = start;
    let request = init;
    for (let hops = 0; hops < 20; hops += 1) {
      const headers = new Headers(request.headers);
      headers.set("cookie", this.#cookiesFor(url));
      headers.set("user-agent", this.#userAgent);
      headers.set("accept", "text/html,*/*;q=0.8");
      const response = await fetch(url, { ...request, headers, redirect: "manual" });
      this.#keep(response.headers.getSetCookie());
      const location = response.headers.get("location");
      if (location === null) {
        return { status: response.status, url, headers: response.headers, text: await response.text() };
      }
      await response.body?.cancel();
      url = new URL(location, url);
      if (isArrival(url)) return { status: response.status, url, headers: response.headers, text: "" };
      request = { method: "GET" };
    }
    throw new Error(`Too many redirects, the last to ${url}.`);
  }

  #cookiesFor({ pathname }: URL): string {
    return [...this.#cookies]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`))
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ");
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = "", ...attributes] = line.split("; ");
      const name = pair.slice(0, pair.indexOf("="));
      const value = pair.slice(name.length + 1);
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? "/";
      const expires = attributes.find((attribute) => /^expires=/i.test(attribute))?.slice(8);
      const isGone = expires !== undefined && Date.parse(expires) <= Date.now();
      if (isGone) this.#cookies.delete(name);
      else this.#cookies.set(name, { value, path });
    }
  }
}

interface Form {
  readonly action: string;
  readonly hidden: Record<string, string>;
  readonly names: ReadonlySet<string>;
}

function formsIn(text: string): Form[] {
  return [...text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, attributes = "", content = ""]) => {
    const controls = [...content.matchAll(/<(?:input|button)\b([^>]*)>/g)].map(([, control = ""]) => control);
    const hidden = controls.filter((control) => attributeOf(control, "type") === "hidden");
    return {
      action: attributeOf(attributes, "action") ?? "",
      hidden: Object.fromEntries(
        hidden.map((control) => [attributeOf(control, "name") ?? "", attributeOf(control, "value") ?? ""]),
      ),
      names: new Set(controls.map((control) => attributeOf(control, "name") ?? "")),
    };
  });
}

function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  return value?.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
}
