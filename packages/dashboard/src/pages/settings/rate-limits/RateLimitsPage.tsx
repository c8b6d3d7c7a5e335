import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useId } from "react";
import { type RateLimit, rateLimitsQuery } from "../../../api/rate-limits.ts";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import "./RateLimitsPage.css";

/** How much of each limit is used in this minute. */
export function RateLimitsPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  return (
    <Permitted organizationId={organizationId} permission="organization:read" title={texts.rateLimits.title}>
      <RateLimits organizationId={organizationId} />
    </Permitted>
  );
}

function RateLimits({ organizationId }: { readonly organizationId: string }) {
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
            <div className="rate-limits">
              {data.rateLimits.map((limit) => (
                <Limit key={`${limit.scope} ${limit.policy}`} limit={limit} />
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

function Limit({ limit: { scope, policy, limitPerMinute, usedCount } }: { readonly limit: RateLimit }) {
  const words = texts.rateLimits;
  const id = useId();
  return (
    <div className="rate-limit">
      <p id={id}>
        <strong>{words.policies[policy]}</strong>: {words.scopes[scope]}
      </p>
      {limitPerMinute === undefined ? (
        <p className="soft">{words.unlimited(usedCount)}</p>
      ) : (
        <>
          <progress aria-labelledby={id} value={Math.min(usedCount, limitPerMinute)} max={limitPerMinute} />
          <p className="soft">
            {words.of(usedCount, limitPerMinute)} {state(usedCount, limitPerMinute)}
          </p>
        </>
      )}
    </div>
  );
}

function state(used: number, limit: number) {
  const words = texts.rateLimits;
  if (used >= limit) return <strong>({words.usedUp})</strong>;
  return used >= limit * 0.8 && <strong>({words.nearlyUsed})</strong>;
}
