import type { Timestamp } from "../../core/time.ts";
import type { Admit } from "./admission.ts";
import { ExternalIssuer } from "./issuer.ts";
import { type ExternalProvider, hasDomainOf } from "./provider.ts";

/** A provider, and what fetches and remembers the description of its issuer. */
export interface JoinedProvider {
  readonly provider: ExternalProvider;
  readonly issuer: ExternalIssuer;
}

export interface SingleSignOnParts {
  /** The database's time. */
  readonly now: () => Timestamp;
  readonly admit: Admit;
  /** Called when an issuer cannot be reached or its answer cannot be used, so that the operator learns of it. */
  readonly onTrouble: (provider: ExternalProvider, error: unknown) => void;
}

/** The external issuers with which people sign in. */
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

  /** Returns the providers that lead into an organization, in the order of their ids. */
  providersOf(organizationId: string, after: string | null, limit: number): readonly ExternalProvider[] {
    return this.providers
      .filter((provider) => provider.organizationId === organizationId)
      .filter(({ id }) => after === null || id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  find(id: string): JoinedProvider | undefined {
    return this.joined.find(({ provider }) => provider.id === id);
  }

  /** Returns the provider that is responsible for the domain of an e-mail address. */
  forEmail(email: string): ExternalProvider | undefined {
    return this.providers.find((provider) => hasDomainOf(provider, email));
  }
}
