import { ExternalProviderProcess } from "@stepwell/testing/identities/external-provider.ts";
import type { ProviderEntry } from "../../../src/auth/external/provider-entry.ts";

const audience = "https://stepwell.acme.test";

/** The identity provider of the organization Acme. It listens on another port each time. */
export class AcmeProvider {
  readonly #process: ExternalProviderProcess;

  static async start(): Promise<AcmeProvider> {
    return new AcmeProvider(
      await ExternalProviderProcess.start({ clients: [], algorithm: "RS256", claimsInUserInfo: false }),
    );
  }

  private constructor(process: ExternalProviderProcess) {
    this.#process = process;
  }

  get issuer(): string {
    return this.#process.issuer;
  }

  /** The entry for the service's setting STEPWELL_SIGN_IN_PROVIDERS_FILE. It contains the original name of a role that was renamed later. */
  entryFor(organizationId: string): ProviderEntry {
    return {
      id: "acme",
      name: "Acme",
      issuer: this.issuer,
      clientId: "stepwell",
      emailDomains: ["acme.test"],
      organizationId,
      roleClaim: "groups",
      roles: { staff: ["gatekeeper"] },
      bearer: { audience },
    };
  }

  /** A token of the provider's only person, as a program sends it. */
  async bearerToken(): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const person = { sub: "linus", email: "linus@acme.test", email_verified: true, name: "Linus", groups: ["staff"] };
    return await this.#process.sign({ ...person, aud: audience, iat: now, exp: now + 300 }, { typ: "at+jwt" });
  }

  async stop(): Promise<void> {
    await this.#process.stop();
  }
}
