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
  /** The page has no user: the sign-in was cancelled or did not work (`error` says how). */
  | { readonly status: "signed-out"; readonly error?: unknown }
  /** The page was opened in a way in which browsers allow no sign-in. */
  | { readonly status: "insecure" }
  | { readonly status: "signed-in"; readonly user: SignedInUser }
  /** The user was signed in, and is no longer. The content of the page is kept, so that no typed text is lost. */
  | { readonly status: "ended"; readonly user: SignedInUser };

const callbackPath = `${basePath}/signed-in`;
/** An id token is renewed this long before its end, which is time enough for several tries. */
const renewBeforeMs = 5 * 60_000;
const retryMs = 15_000;

/**
 * The sign-in on this page, with the tokens in this page's memory alone. It knows nothing of React, so that the way to the provider begins
 * before any page is loaded.
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

  /** Whether the provider just led back here. */
  isComingBack(): boolean {
    return window.location.pathname === callbackPath;
  }

  /** Signs in with the browser's cookie, by a redirect to the provider and back. The provider asks for a password if it must. */
  async start(): Promise<void> {
    try {
      await this.#arrive();
    } catch (error) {
      // A browser that stores nothing for this page cannot sign in. The page must say so and not stay blank.
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
    // The page was opened from a bookmark or by going back, so there is no code to exchange.
    if (pending === undefined) return await this.signIn();
    try {
      this.#hold(await exchangeCode(callback, pending));
    } catch (error) {
      this.#become({ status: "signed-out", ...(rejectionOf(error) !== "access_denied" && { error }) });
    }
  }

  /** Leaves for the provider, which leads back to where the person is now. With `asksAgain` it asks who they are although they are signed in. */
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
    // From here on no page asks the service for anything.
    this.#become({ status: "starting" });
    // A browser may keep the page as it is, and show it again to the next person who goes back.
    window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());
    window.location.assign(`${baseUrl}/`);
  }

  /** The id token for the next request. A token that is about to end is renewed first. */
  async bearer(): Promise<string | undefined> {
    const tokens = this.#tokens;
    if (tokens === undefined || tokens.expiresAt - Date.now() > 30_000) return tokens?.idToken;
    return (await this.#renew()) ?? tokens.idToken;
  }

  /** A new token instead of one that the service did not take; undefined when there is none to be had. */
  async renewInsteadOf(refused: string | undefined): Promise<string | undefined> {
    const current = this.#tokens?.idToken;
    if (current !== undefined && current !== refused) return current;
    return current === undefined ? undefined : await this.#renew();
  }

  /** Only one renewal runs at a time, since a refresh token works once. */
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

/** The path with all that follows it. */
function here(): string {
  const { pathname, search, hash } = window.location;
  return pathname + search + hash;
}
