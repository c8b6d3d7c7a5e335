import { basePath, baseUrl, isAtBaseUrl } from "../base-url.ts";
import {
  authorizationRequest,
  canSignIn,
  exchangeCode,
  isRefusal,
  refresh,
  rejectionOf,
  type SignedInUser,
  type Tokens,
} from "./open-id.ts";
import { rememberPending, takePending } from "./pending-sign-in.ts";

export type SessionState =
  | { readonly status: "starting" }
  /** No user is signed in: the sign-in was cancelled or failed (`error` has the reason). */
  | { readonly status: "signed-out"; readonly error?: unknown }
  /** The page comes from another machine without TLS. Browsers do not allow a sign-in on such a page. */
  | { readonly status: "insecure" }
  | { readonly status: "signed-in"; readonly user: SignedInUser }
  /** The user is no longer signed in. The content of the page is kept, so that no typed text is lost. */
  | { readonly status: "ended"; readonly user: SignedInUser };

const callbackPath = `${basePath}/signed-in`;
/** An id token is renewed this long before its end, which is enough time for several attempts. */
const renewBeforeMs = 5 * 60_000;
const retryMs = 15_000;

/**
 * The sign-in of this page. The tokens exist only in this page's memory. The class does not use React, so that the browser can leave for the provider
 * before the script of the pages is loaded.
 */
class Session {
  #state: SessionState = { status: "starting" };
  #tokens: Tokens | undefined;
  #renewing: Promise<string | undefined> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  get state(): SessionState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Tells whether the page has the address to which the provider sends the browser back. */
  isComingBack(): boolean {
    return window.location.pathname === callbackPath;
  }

  /** Signs in with the browser's cookie, by a redirect to the provider and back. The provider asks for a password if necessary. */
  async start(): Promise<void> {
    try {
      await this.#arrive();
    } catch (error) {
      // A browser that stores nothing for this page cannot sign in. The page must say so instead of staying blank.
      this.#become({ status: "signed-out", error });
    }
  }

  async #arrive(): Promise<void> {
    if (!isAtBaseUrl()) return window.location.replace(new URL(baseUrl).origin + here());
    if (!canSignIn) return this.#become({ status: "insecure" });
    if (!this.isComingBack()) return await this.signIn();
    const callback = new URL(window.location.href);
    const pending = takePending();
    window.history.replaceState(null, "", pending?.returnTo ?? `${basePath}/`);
    // The page was opened from a bookmark or by going back, so there is no sign-in to complete. A new one begins.
    if (pending === undefined) return await this.signIn();
    try {
      this.#hold(await exchangeCode(callback, pending));
    } catch (error) {
      this.#become({ status: "signed-out", ...(rejectionOf(error) !== "access_denied" && { error }) });
    }
  }

  /**
   * Leaves for the provider, which sends the browser back to the present page. If `asksAgain` is true, even a person who is signed in must sign in
   * again.
   */
  async signIn({ asksAgain = false } = {}): Promise<void> {
    const { url, pending } = await authorizationRequest(here());
    if (asksAgain) url.searchParams.set("prompt", "login");
    rememberPending(pending);
    window.location.replace(url);
  }

  /** Goes to the first page, signed out, after the session has ended. */
  leave(): void {
    this.#tokens = undefined;
    clearTimeout(this.#timer);
    // From now on, no component of this page sends a request to the service.
    this.#become({ status: "starting" });
    // A browser may keep the page unchanged, and show it again to the next person who goes back.
    window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());
    window.location.assign(`${baseUrl}/`);
  }

  /** Returns the id token for the next request. A token that is about to end is renewed first. */
  async bearer(): Promise<string | undefined> {
    const tokens = this.#tokens;
    if (tokens === undefined || tokens.expiresAt - Date.now() > 30_000) return tokens?.idToken;
    return (await this.#renew()) ?? tokens.idToken;
  }

  /** Returns a new token instead of one that the service rejected; undefined when no new token can be obtained. */
  async renewInsteadOf(refused: string | undefined): Promise<string | undefined> {
    const current = this.#tokens?.idToken;
    if (current !== undefined && current !== refused) return current;
    return current === undefined ? undefined : await this.#renew();
  }

  /** Only one renewal runs at a time, since a refresh token works only once. */
  async #renew(): Promise<string | undefined> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined;
    });
    return await this.#renewing;
  }

  async #renewOnce(): Promise<string | undefined> {
    const tokens = this.#tokens;
    if (tokens === undefined) return undefined;
    try {
      const renewed = await refresh(tokens);
      this.#hold(renewed);
      return renewed.idToken;
    } catch (error) {
      if (isRefusal(error)) this.#end(tokens.user);
      else this.#renewIn(retryMs);
      return undefined;
    }
  }

  #hold(tokens: Tokens): void {
    this.#tokens = tokens;
    this.#renewIn(Math.max(tokens.expiresAt - Date.now() - renewBeforeMs, retryMs));
    if (this.#state.status !== "signed-in") this.#become({ status: "signed-in", user: tokens.user });
  }

  #end(user: SignedInUser): void {
    this.#tokens = undefined;
    clearTimeout(this.#timer);
    this.#become({ status: "ended", user });
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#renew(), ms);
  }

  #become(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export const session = new Session();

function here(): string {
  const { pathname, search, hash } = window.location;
  return pathname + search + hash;
}
