import { CommandError } from "../exit-code.ts";

/**
 * Returns the address of a service in the spelling under which sign-ins are stored: without a slash at the end. Throws when the text is not the
 * address of a service.
 */
export function parseAddress(text: string, source?: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    throw new CommandError(
      "usage",
      `"${text}"${source === undefined ? "" : ` (${source})`} is not the address of a service. Such an address looks like https://stepwell.example.com.`,
    );
  }
  return url.href.replace(/\/+$/, "");
}

/** Tells whether the connection to this address is safe from eavesdroppers: it is encrypted, or it does not leave this machine. */
export function isPrivate(baseUrl: string): boolean {
  return new URL(baseUrl).protocol === "https:" || isLoopback(baseUrl);
}

/** Tells whether this address always leads to this machine. */
export function isLoopback(baseUrl: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
}
