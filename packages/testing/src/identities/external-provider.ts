import type { JsonWebKey } from "node:crypto";
import { join } from "node:path";
import { Child } from "../child.ts";

export interface ProviderSettings {
  readonly clients: readonly {
    readonly clientId: string;
    readonly clientSecret?: string;
    readonly redirectUris: readonly string[];
  }[];
  readonly algorithm: "RS256" | "ES256";
  /** Whether the claims are only in the user info, as the standard says. If not, all claims are in the id token as well. */
  readonly claimsInUserInfo: boolean;
}

export interface ProviderReady {
  readonly issuer: string;
  readonly publicKey: JsonWebKey;
}

export type ProviderCommand =
  | { readonly type: "account"; readonly login: string; readonly claims: Record<string, unknown> }
  | { readonly type: "sign"; readonly header: object; readonly claims: Record<string, unknown> }
  | { readonly type: "requests" };

/** An OpenID provider that is independent of the service's own, in a process of its own. */
export class ExternalProviderProcess {
  readonly #child: Child<ProviderReady>;

  private constructor(child: Child<ProviderReady>) {
    this.#child = child;
  }

  static async start(settings: ProviderSettings): Promise<ExternalProviderProcess> {
    const script = join(import.meta.dirname, "external-provider-process.ts");
    return new ExternalProviderProcess(await Child.start<ProviderReady>(script, [JSON.stringify(settings)]));
  }

  get issuer(): string {
    return this.#child.ready.issuer;
  }

  get publicKey(): JsonWebKey {
    return this.#child.ready.publicKey;
  }

  /** Sets the claims that the provider makes about the person with this login. */
  async setAccount(login: string, claims: Record<string, unknown>): Promise<void> {
    await this.#ask({ type: "account", login, claims });
  }

  /** Signs the given claims with the provider's RSA key, or with its EC key if `header.alg` is ES256. `iss` is the provider if the claims lack it. */
  async sign(claims: Record<string, unknown>, header: object = {}): Promise<string> {
    return (await this.#ask<{ token: string }>({ type: "sign", header, claims })).token;
  }

  /** The requests that the provider got since this was last called. */
  async requests(): Promise<readonly string[]> {
    return (await this.#ask<{ requests: string[] }>({ type: "requests" })).requests;
  }

  /** Until `goOn`, the provider accepts connections but does not answer. */
  pause(): void {
    this.#child.pause();
  }

  goOn(): void {
    this.#child.goOn();
  }

  async stop(): Promise<void> {
    await this.#child.kill();
  }

  async #ask<Answer>(command: ProviderCommand): Promise<Answer> {
    return await this.#child.ask<Answer>(command);
  }
}
