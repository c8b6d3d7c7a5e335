import { useParams } from "@tanstack/react-router";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { texts } from "../../../texts/texts.ts";
import { Limits } from "./Limits.tsx";
import { RateLimits } from "./RateLimits.tsx";
import "./LimitsPage.css";

/** The limits of an organization: how many of each thing it may have, and how many requests it may make in a minute. */
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
