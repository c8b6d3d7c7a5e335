import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";
import { endRevokedSessions, forgetEndedSessions, noteEnds } from "./ended-sessions.ts";
import { loadProvider } from "./load-provider.ts";
import { providerConfiguration } from "./provider-configuration.ts";
import type { OpenIdProviderParts } from "./provider-parts.ts";
import type { SigningKeys } from "./signing-keys.ts";

export type RequestHandler = (request: IncomingMessage, response: ServerResponse, address: string) => Promise<void>;

/**
 * The OpenID provider. It is loaded when it is first needed, since loading takes half a second and 46 MB that a node without sign-ins need not spend.
 * It is built again when its keys change.
 */
export class OpenIdProvider {
  readonly #parts: OpenIdProviderParts;
  readonly #addresses = new WeakMap<ServerResponse, string>();
  #built: { readonly keyIds: string; readonly handler: Promise<RequestHandler> } | undefined;

  constructor(parts: OpenIdProviderParts) {
    this.#parts = parts;
  }

  async handler(): Promise<RequestHandler> {
    const keys = await this.#parts.signingKeys.published();
    const keyIds = keys.map((key) => key.kid).join(" ");
    if (this.#built?.keyIds !== keyIds) {
      const handler = this.#build(keys);
      this.#built = { keyIds, handler };
      handler.catch(() => {
        this.#built = undefined;
      });
    }
    return await this.#built.handler;
  }

  async #build(keys: Awaited<ReturnType<SigningKeys["published"]>>): Promise<RequestHandler> {
    const { publicUrl, middlewares, sessions, onSessionsEnded, onFailure } = this.#parts;
    const { Provider, errors, interactionPolicy } = await loadProvider();
    const issuer = issuerOf(publicUrl());
    const configuration = providerConfiguration({ ...this.#parts, keys, errors, interactionPolicy });
    const provider = new Provider(issuer, configuration);
    this.#knowItsAddress(provider, new URL(issuer));
    noteEnds(provider);
    const stack = [forgetEndedSessions(onSessionsEnded), ...middlewares(provider), endRevokedSessions(sessions)];
    for (const middleware of stack) provider.use(middleware);
    provider.on("server_error", (ctx, error) => onFailure(error, ctx));
    (provider as EventEmitter).on("error", (error: unknown) => onFailure(error, undefined));
    const handle = provider.callback();
    return async (request, response, address) => {
      this.#addresses.set(response, address);
      await handle(request, response);
    };
  }

  /**
   * Sets the provider's address, and the network address from which a request comes. By itself, the provider would trust the Host header, and take
   * the address of a proxy for that network address.
   */
  #knowItsAddress(provider: Provider, issuer: URL): void {
    const addresses = this.#addresses;
    Object.defineProperties(provider.request, {
      host: { get: () => issuer.host },
      protocol: { get: () => issuer.protocol.slice(0, -1) },
      ip: {
        get(this: { readonly res: ServerResponse }) {
          return addresses.get(this.res) ?? "";
        },
      },
    });
  }
}

export function issuerOf(publicUrl: string): string {
  return `${publicUrl}/oidc`;
}
