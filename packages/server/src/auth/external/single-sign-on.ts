import type { AdmissionParts } from "./admission.ts";
import { ExternalIssuer } from "./issuer.ts";
import { type ExternalProvider, hasDomainOf } from "./provider.ts";

/** A provider with what was asked of its issuer so far. */
export interface JoinedProvider {
  readonly provider: ExternalProvider;
  readonly issuer: ExternalIssuer;
}

export interface SingleSignOnParts extends AdmissionParts {
  /** An issuer does not do what it should: for whoever runs the service. */
  readonly onTrouble: (provider: ExternalProvider, error: unknown) => void;
}

/** The issuers outside with which people sign in. */
export class SingleSignOn {
  readonly joined: readonly JoinedProvider[];
  readonly parts: SingleSignOnParts;

  constructor(providers: readonly ExternalProvider[], parts: SingleSignOnParts) {
    this.parts = parts;
    this.joined = providers.map((provider) => ({
      provider,
      issuer: new ExternalIssuer(provider, (error) => parts.onTrouble(provider, error)),
    }));
  }

  get providers(): readonly ExternalProvider[] {
    return this.joined.map(({ provider }) => provider);
  }

  find(id: string): JoinedProvider | undefined {
    return this.joined.find(({ provider }) => provider.id === id);
  }

  /** Who speaks for an e-mail address. */
  forEmail(email: string): ExternalProvider | undefined {
    return this.providers.find((provider) => hasDomainOf(provider, email));
  }
}
