import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { type ApiToken, apiTokenQuery } from "../../../api/api-tokens.ts";
import { usePermission } from "../../../api/permissions.ts";
import { type WorkflowKey, workflowQuery } from "../../../api/workflows.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Facts } from "../../../parts/data/Facts.tsx";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { ActorName } from "../../../parts/words/ActorName.tsx";
import { Codes } from "../../../parts/words/Codes.tsx";
import { Expiry } from "../../../parts/words/Expiry.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { ChangeApiToken } from "./ChangeApiToken.tsx";
import { RevokeApiToken } from "./RevokeApiToken.tsx";
import { RotateApiToken } from "./RotateApiToken.tsx";

const list = "/app/organizations/$organizationId/settings/api-tokens";

/** One token: its permissions, and the actions on it. */
export function ApiTokenPage() {
  const { organizationId, tokenId } = useParams({ from: `${list}/$tokenId` });
  const words = texts.apiTokens;
  return (
    <Permitted organizationId={organizationId} permission="apitoken:read" title={words.title}>
      <p>
        <Link to={list} params={{ organizationId }}>
          {words.all}
        </Link>
      </p>
      <OneToken organizationId={organizationId} tokenId={tokenId} />
    </Permitted>
  );
}

function OneToken(key: { readonly organizationId: string; readonly tokenId: string }) {
  const { organizationId } = key;
  const words = texts.apiTokens;
  const { data: shown, error, refetch } = useQuery(apiTokenQuery(key));
  const mayChange = usePermission(organizationId, "apitoken:update");
  const mayRevoke = usePermission(organizationId, "apitoken:revoke");
  const [open, setOpen] = useState<"change" | "rotate" | "revoke" | undefined>();
  const navigate = useNavigate();
  const close = () => setOpen(undefined);
  if (shown === undefined) {
    return error === null ? <Skeleton rows={6} /> : <Problem error={error} onRetry={() => void refetch()} />;
  }
  const token = shown.data;
  const actions = (
    <div className="row">
      {mayChange && <Button onClick={() => setOpen("change")}>{words.change}</Button>}
      {mayChange && (
        <Button icon="retry" onClick={() => setOpen("rotate")}>
          {words.rotate}
        </Button>
      )}
      {mayRevoke && (
        <Button kind="danger" onClick={() => setOpen("revoke")}>
          {words.revoke}
        </Button>
      )}
    </div>
  );
  return (
    <>
      <Panel title={token.name} actions={actions}>
        <Facts facts={factsOf(organizationId, token)} />
      </Panel>
      {open === "change" && <ChangeApiToken organizationId={organizationId} shown={shown} onClose={close} />}
      {open === "rotate" && <RotateApiToken organizationId={organizationId} token={token} onClose={close} />}
      {open === "revoke" && (
        <RevokeApiToken
          organizationId={organizationId}
          token={token}
          onClose={close}
          onRevoked={() => void navigate({ to: list, params: { organizationId } })}
        />
      )}
    </>
  );
}

function factsOf(organizationId: string, token: ApiToken): readonly (readonly [string, ReactNode])[] {
  const words = texts.apiTokens;
  const { tokenPrefix, permissions, boundTo, createdAt, createdBy, lastUsedAt, expiresAt, rotatedAt } = token;
  const facts: (readonly [string, ReactNode])[] = [
    [words.prefix, <code key="prefix">{tokenPrefix}…</code>],
    [words.permissions, <Codes key="permissions" values={permissions} />],
    [words.boundTo, <Bounds key="bounds" organizationId={organizationId} boundTo={boundTo} />],
    [words.lastUsed, lastUsedAt === undefined ? words.neverUsed : <Time key="used" at={lastUsedAt} isRelative />],
    [words.expires, <Expiry key="expires" at={expiresAt} />],
    [
      words.created,
      <span key="created">
        <Time at={createdAt} />, <ActorName organizationId={organizationId} actor={createdBy} />
      </span>,
    ],
  ];
  if (rotatedAt !== undefined) facts.push([words.rotated, <Time key="rotated" at={rotatedAt} />]);
  if (token.previousExpiresAt !== undefined) {
    facts.push([words.previousUntil, <Time key="previous" at={token.previousExpiresAt} />]);
  }
  return facts;
}

interface BoundsProps {
  readonly organizationId: string;
  readonly boundTo: ApiToken["boundTo"] | undefined;
}

function Bounds({ organizationId, boundTo }: BoundsProps) {
  const words = texts.apiTokens;
  const { workflowIds = [], tags = [], jobEvent } = boundTo ?? {};
  if (boundTo === undefined) return words.unbound;
  return (
    <>
      {workflowIds.length > 0 && <p>{words.boundWorkflows(workflowIds.length)}:</p>}
      {workflowIds.length > 0 && (
        <ul>
          {workflowIds.map((workflowId) => (
            <li key={workflowId}>
              <WorkflowLink organizationId={organizationId} workflowId={workflowId} />
            </li>
          ))}
        </ul>
      )}
      {tags.length > 0 && <p>{words.boundTags(tags)}</p>}
      {jobEvent !== undefined && <p>{words.boundEventOf(jobEvent.eventId, jobEvent.jobId)}</p>}
    </>
  );
}

/** Shows the name of the workflow. If the name is not known, for example after the workflow was deleted, shows its id. */
function WorkflowLink(key: WorkflowKey) {
  const { data } = useQuery(workflowQuery(key));
  return (
    <Link to="/app/organizations/$organizationId/workflows/$workflowId" params={key}>
      {data?.name ?? key.workflowId}
    </Link>
  );
}
