import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type SignInProvider, signInProvidersQuery } from "../../../api/sign-in-providers.ts";
import { baseUrl } from "../../../base-url.ts";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { Command } from "../../../parts/words/Command.tsx";
import { texts } from "../../../texts/texts.ts";
import { ProviderFacts } from "./ProviderFacts.tsx";

/** Shows the external identity providers of this organization. They cannot be changed here, because they come from the operator's file. */
export function SignInProvidersPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  return (
    <Permitted organizationId={organizationId} permission="organization:read" title={texts.signInProviders.title}>
      <SignInProviders organizationId={organizationId} />
    </Permitted>
  );
}

function SignInProviders({ organizationId }: { readonly organizationId: string }) {
  const words = texts.signInProviders;
  const { data: providers, error, refetch } = useQuery(signInProvidersQuery(organizationId));
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (providers === undefined) return <Skeleton rows={6} />;
  if (providers.length === 0) return <NoProvider organizationId={organizationId} />;
  return (
    <>
      <p className="soft">{words.text}</p>
      {providers.map((provider: SignInProvider) => (
        <Panel key={provider.id} title={provider.name}>
          <ProviderFacts provider={provider} />
        </Panel>
      ))}
    </>
  );
}

function NoProvider({ organizationId }: { readonly organizationId: string }) {
  const words = texts.signInProviders;
  const example = exampleFor(organizationId);
  return (
    <Panel title={words.title} isFlush>
      <EmptyState title={words.emptyTitle} text={words.empty} command={JSON.stringify([example], undefined, 2)}>
        <p className="soft">{words.emptyNext}</p>
        <Command text={`${baseUrl}/oidc/callback/${example.id}`} />
      </EmptyState>
    </Panel>
  );
}

/** The example in docs/single-sign-on.md, in a shorter form and with the id of this organization. */
function exampleFor(organizationId: string) {
  return {
    id: "acme",
    name: "Acme",
    issuer: "https://sign-in.acme.example",
    clientId: "stepwell",
    clientSecretFile: "acme.secret",
    emailDomains: ["acme.example"],
    organizationId,
    roleClaim: "groups",
    roles: { engineering: ["developer"] },
    defaultRoles: ["viewer"],
  };
}
