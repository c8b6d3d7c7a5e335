import type { FetchImplementation, JSONWebKeySet, JWTVerifyGetKey } from "jose";
import type { ClientAuth, Configuration } from "openid-client";
import { ServiceError } from "../../core/service-error.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { canonicalIssuer, type ExternalProvider } from "./provider.ts";
import { isLoopback } from "./provider-conflicts.ts";

/** An issuer as its own description presents it. */
export interface DiscoveredIssuer {
  /** The configuration for requests to the issuer. */
  readonly configuration: Configuration;
  /** The issuer's name, as its tokens spell it. */
  readonly issuer: string;
  /** Finds a token's key among the issuer's own keys; an address in the token itself is ignored. */
  readonly keys: JWTVerifyGetKey;
}

export interface IssuerTimes {
  /** The age, in milliseconds, at which a description is asked for again. */
  readonly maxAgeMs: number;
  /** The age up to which a description is used while the issuer cannot be reached. */
  readonly maxStaleMs: number;
  /** An issuer that did not answer is not asked again for this long, so that not every request tries it. */
  readonly failurePauseMs: number;
  /** An unknown key makes the service fetch the keys again, but not more often than this: anybody can name keys that do not exist. */
  readonly keyCooldownMs: number;
  readonly maxKeyAgeMs: number;
  readonly timeoutSeconds: number;
}

const usualTimes: IssuerTimes = {
  maxAgeMs: 60 * 60_000,
  maxStaleMs: 24 * 60 * 60_000,
  failurePauseMs: 2_000,
  keyCooldownMs: 30_000,
  maxKeyAgeMs: 10 * 60_000,
  timeoutSeconds: 5,
};

/** The clocks of the issuer and this service may differ by this much. */
export const maxSkewSeconds = 30;

/** Fetches the description of an external issuer when it is first needed, and remembers it. */
export class ExternalIssuer {
  readonly #provider: ExternalProvider;
  readonly #onTrouble: (error: unknown) => void;
  readonly #times: IssuerTimes;
  #known: { readonly found: DiscoveredIssuer; readonly at: number } | undefined;
  #asking: Promise<DiscoveredIssuer> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(provider: ExternalProvider, onTrouble: (error: unknown) => void, times: IssuerTimes = usualTimes) {
    this.#provider = provider;
    this.#onTrouble = onTrouble;
    this.#times = times;
  }

  /** Throws `ServiceError` UnavailableError when the issuer cannot be reached and no description younger than `maxStaleMs` is remembered. */
  async discover(): Promise<DiscoveredIssuer> {
    const { maxAgeMs, maxStaleMs, failurePauseMs } = this.#times;
    const now = performance.now();
    const known = this.#known;
    if (known !== undefined && now - known.at < maxAgeMs) return known.found;
    const usable = known !== undefined && now - known.at < maxStaleMs ? known.found : undefined;
    if (now - this.#failedAt < failurePauseMs) return usable ?? this.#giveUp(undefined);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    try {
      return await this.#asking;
    } catch (error) {
      this.#failedAt = performance.now();
      if (usable === undefined) return this.#giveUp(error);
      this.#onTrouble(error);
      return usable;
    }
  }

  /** Returns the error for an issuer that cannot be reached. Also used when another address of the issuer does not answer. */
  unreachable(cause: unknown): ServiceError {
    if (cause !== undefined) this.#onTrouble(cause);
    const message = `${this.#provider.name} cannot be reached. Try again in a moment.`;
    return new ServiceError("UnavailableError", message, { retryAfterSeconds: 5, cause });
  }

  #giveUp(cause: unknown): never {
    throw this.unreachable(cause);
  }

  /** The libraries are loaded on first use, because most services never need them. */
  async #ask(): Promise<DiscoveredIssuer> {
    const openid = await import("openid-client");
    const { issuer: address, clientId, clientSecret } = this.#provider;
    const server = new URL(address);
    const isLocal = server.protocol === "http:" && isLoopback(server.hostname);
    const authentication: ClientAuth = (metadata, ...request) => {
      if (clientSecret === undefined) return openid.None()(metadata, ...request);
      const methods = metadata.token_endpoint_auth_methods_supported;
      // An issuer that does not say how clients must send the secret expects it in the header (OpenID Connect Discovery, section 3).
      const inBody = methods?.includes("client_secret_post") === true && !methods.includes("client_secret_basic");
      const method = inBody ? openid.ClientSecretPost : openid.ClientSecretBasic;
      return method(clientSecret)(metadata, ...request);
    };
    const configuration = await openid.discovery(
      server,
      clientId,
      { [openid.clockTolerance]: maxSkewSeconds },
      authentication,
      {
        execute: isLocal ? [openid.allowInsecureRequests] : [],
        timeout: this.#times.timeoutSeconds,
        [openid.customFetch]: (url, { body, ...options }) =>
          boundedFetch(url, { ...options, body: (body ?? null) as NonNullable<RequestInit["body"]> | null }),
      },
    );
    const { issuer, jwks_uri: keysAddress } = configuration.serverMetadata();
    if (canonicalIssuer(issuer) !== canonicalIssuer(address)) throw new Error(`${address} calls itself ${issuer}.`);
    if (keysAddress === undefined) throw new Error(`${address} names no keys (jwks_uri).`);
    if (!isLocal && !keysAddress.startsWith("https:"))
      throw new Error(`${address} has its keys at an address without https: ${keysAddress}.`);
    const found = { configuration, issuer, keys: await this.#keysAt(new URL(keysAddress)) };
    this.#known = { found, at: performance.now() };
    return found;
  }

  async #keysAt(address: URL): Promise<JWTVerifyGetKey> {
    const { createLocalJWKSet, createRemoteJWKSet, customFetch } = await import("jose");
    const { timeoutSeconds, keyCooldownMs, maxKeyAgeMs, failurePauseMs } = this.#times;
    let failedAt = Number.NEGATIVE_INFINITY;
    // The library pauses after a fetch that brought keys, but not after one that failed. So this function adds a pause after a fetch that failed.
    const fetchKeys: FetchImplementation = async (url, options) => {
      if (performance.now() - failedAt < failurePauseMs)
        throw new TypeError("The keys could not be loaded a moment ago.");
      try {
        const response = await boundedFetch(url, options);
        if (response.status !== 200) throw new TypeError(`${url} answered with status ${response.status}.`);
        createLocalJWKSet((await response.clone().json()) as JSONWebKeySet);
        return response;
      } catch (error) {
        failedAt = performance.now();
        throw error;
      }
    };
    return createRemoteJWKSet(address, {
      timeoutDuration: timeoutSeconds * 1_000,
      cooldownDuration: keyCooldownMs,
      cacheMaxAge: maxKeyAgeMs,
      [customFetch]: fetchKeys,
    });
  }
}
