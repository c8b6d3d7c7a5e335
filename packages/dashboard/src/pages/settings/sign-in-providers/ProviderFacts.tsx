import type { ReactNode } from "react";
import type { SignInProvider } from "../../../api/sign-in-providers.ts";
import { CopyButton } from "../../../parts/controls/CopyButton.tsx";
import { Facts } from "../../../parts/data/Facts.tsx";
import { Codes } from "../../../parts/words/Codes.tsx";
import { texts } from "../../../texts/texts.ts";

/** The facts that an owner needs about a provider: which people sign in with it, and which roles they get. */
export function ProviderFacts({ provider }: { readonly provider: SignInProvider }) {
  const words = texts.signInProviders;
  const { id, issuer, clientId, redirectUri, scopes, emailDomains, trustsEmail, bearer } = provider;
  const { roleClaim, roles, defaultRoles } = provider;
  const facts: (readonly [string, ReactNode])[] = [
    [words.issuer, <code key="issuer">{issuer}</code>],
    [words.emailDomains, <Codes key="domains" values={emailDomains} />],
    [words.trustsEmail, trustsEmail ? words.trusted : words.verified],
  ];
  if (roleClaim !== undefined) {
    facts.push([words.roles, <RolesByClaim key="roles" claim={roleClaim} roles={roles} />]);
  }
  facts.push(
    [
      roleClaim === undefined ? words.onlyRoles : words.defaultRoles,
      defaultRoles.length === 0 ? words.refused : <Codes key="default" values={defaultRoles} />,
    ],
    [words.bearer, bearer === undefined ? words.noBearer : words.bearerFor(bearer.audience)],
    [words.id, <code key="id">{id}</code>],
    [words.clientId, <code key="client">{clientId}</code>],
    [
      words.redirectUri,
      <span key="redirect" className="row">
        <code>{redirectUri}</code>
        <CopyButton text={redirectUri} label={words.copyRedirectUri} isIconOnly />
      </span>,
    ],
    [words.scopes, <code key="scopes">{scopes.join(" ")}</code>],
  );
  return <Facts facts={facts} />;
}

interface RolesByClaimProps {
  readonly claim: string;
  readonly roles: SignInProvider["roles"];
}

function RolesByClaim({ claim, roles }: RolesByClaimProps) {
  const words = texts.signInProviders;
  return (
    <>
      <p>{words.rolesOf(claim)}</p>
      <Codes values={Object.entries(roles).map(([value, given]) => words.given(value, given))} />
    </>
  );
}
