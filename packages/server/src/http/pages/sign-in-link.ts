import { openedLinkCookie, openSignInLink } from "../../auth/passwords/sign-in-link.ts";
import type { App, ServerParts } from "../door/app.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";

const schema = { hide: true, "x-permission": "none", tags: ["account"] } as const;

/**
 * The address to which a link of `stepwell dev` leads. It uses up the link, and continues to the dashboard with a cookie that signs the browser in.
 * The sign-in itself is the usual one: its page accepts the cookie instead of a password, once and within a minute.
 */
export function signInLinkRoutes(app: App, { engine, database, secrets, basePath, publicUrl }: ServerParts): void {
  const options = {
    // A link works once, so a HEAD request of a program must not use it up.
    exposeHeadRoute: false,
    schema: { ...schema, operationId: "OpenSignInLink" },
  };
  app.get("/sign-in/link/:secret", options, async (request, reply) => {
    const { secret } = request.params as { readonly secret: string };
    const opened = await openSignInLink(database, secrets, secret, engine.now());
    if (opened === undefined) {
      const content = html`<p>A link works once, and for ten minutes. Start <code>stepwell dev</code> again to get a new one, or <a href="${basePath}/">sign in</a> with the password that it prints.</p>`;
      return sendPage(reply, { status: 404, title: "This link does not work any more", content });
    }
    // The next page must not learn this address.
    reply.headers({ "set-cookie": openedLinkHeader(basePath, publicUrl(), opened), "referrer-policy": "no-referrer" });
    return reply.redirect(`${basePath}/`, 303);
  });
}

/** Returns the header that sets the cookie which signs the browser in. */
export function openedLinkHeader(basePath: string, publicUrl: string, opened: string): string {
  const isSecure = publicUrl.startsWith("https:");
  const { name, path, maxAgeSeconds } = openedLinkCookie(basePath, isSecure);
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, "HttpOnly", "SameSite=Lax"];
  if (isSecure) attributes.push("Secure");
  return [`${name}=${opened}`, ...attributes].join("; ");
}
