import { useParams } from "@tanstack/react-router";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { texts } from "../../../texts/texts.ts";
import { Limits } from "./Limits.tsx";
import { RateLimits } from "./RateLimits.tsx";
import "./LimitsPage.css";

/** How many of each thing the organization may have and has, and how much of each rate is used in this minute. */
export function LimitsPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  return (
    <Permitted organizationId={organizationId} permission="organization:read" title={texts.limits.title}>
      <div className="stack">
        <Limits organizationId={organizationId} />
        <RateLimits organizationId={organizationId} />
      </div>
    </Permitted>
  );
}
