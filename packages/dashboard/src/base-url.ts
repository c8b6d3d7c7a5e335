/**
 * The address at which clients reach the service, without a slash at the end. The server writes it into the page. During development it is the page's
 * own address.
 */
export const baseUrl: string = written() || window.location.origin;

/** The prefix of every path of the service, without a slash at the end. It is usually empty. */
export const basePath: string = new URL(baseUrl).pathname.replace(/\/+$/, "");

/**
 * Tells whether the page was opened at the service's own address. The sign-in leads back only to that address, so a user who came by another one
 * (127.0.0.1, an internal name) is sent to it first.
 */
export function isAtBaseUrl(): boolean {
  return window.location.origin === new URL(baseUrl).origin;
}

function written(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="stepwell-base-url"]');
  return (meta?.content ?? "").replace(/\/+$/, "");
}
