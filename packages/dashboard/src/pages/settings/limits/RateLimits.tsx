import { useQuery } from "@tanstack/react-query";
import { type RateLimit, rateLimitsQuery } from "../../../api/limits.ts";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { UsedPart } from "./UsedPart.tsx";

/** Shows how much of each rate limit is used in this minute. */
export function RateLimits({ organizationId }: { readonly organizationId: string }) {
  const words = texts.rateLimits;
  const { data, error, refetch } = useQuery(rateLimitsQuery(organizationId));
  return (
    <Panel title={words.title}>
      <div className="stack">
        <p className="soft">{words.text}</p>
        {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton rows={4} />}
        {data !== undefined && (
          <>
            <div className="limits">
              {data.rateLimits.map((limit) => (
                <Rate key={`${limit.scope} ${limit.policy}`} limit={limit} />
              ))}
            </div>
            <p className="soft">
              {words.resets} <Time at={data.resetsAt} isRelative />
            </p>
          </>
        )}
      </div>
    </Panel>
  );
}

function Rate({ limit: { scope, policy, limitPerMinute, usedCount } }: { readonly limit: RateLimit }) {
  const words = texts.rateLimits;
  return (
    <UsedPart name={words.policies[policy]} detail={words.scopes[scope]} used={usedCount} limit={limitPerMinute}>
      {limitPerMinute === undefined ? words.unlimited(usedCount) : words.of(usedCount, limitPerMinute)}
    </UsedPart>
  );
}
