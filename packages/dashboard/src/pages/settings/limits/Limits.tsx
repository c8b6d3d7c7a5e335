import { useQuery } from "@tanstack/react-query";
import { accountLimitsQuery, type Limit, limitsQuery } from "../../../api/limits.ts";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { texts } from "../../../texts/texts.ts";
import { UsedPart } from "./UsedPart.tsx";

/** Shows how many of each thing the organization has and may have, and then the same for the person's own account. */
export function Limits({ organizationId }: { readonly organizationId: string }) {
  const words = texts.limits;
  const { data, error, refetch } = useQuery(limitsQuery(organizationId));
  const account = useQuery(accountLimitsQuery);
  return (
    <Panel title={words.title}>
      <div className="stack">
        <p className="soft">{words.text}</p>
        {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton rows={6} />}
        {data !== undefined && (
          <div className="limits">
            {data.limits.map((limit) => (
              <OneLimit key={limit.name} limit={limit} />
            ))}
            {account.data?.limits.map(({ name, maximum, usedCount, isOwn }) => (
              <UsedPart
                key={name}
                name={words.accountNames[name]}
                detail={words.account}
                used={usedCount}
                limit={maximum}
              >
                {words.of(usedCount, maximum)}
                {isOwn && ` ${words.ownAccount}`}
              </UsedPart>
            ))}
          </div>
        )}
        {account.error !== null && <Problem error={account.error} onRetry={() => void account.refetch()} />}
      </div>
    </Panel>
  );
}

function OneLimit({ limit: { name, scope, maximum, usedCount, isOwn } }: { readonly limit: Limit }) {
  const words = texts.limits;
  return (
    <UsedPart name={words.names[name]} detail={words.scopes[scope]} used={usedCount} limit={maximum}>
      {words.of(usedCount, maximum)}
      {isOwn && ` ${words.own}`}
    </UsedPart>
  );
}
