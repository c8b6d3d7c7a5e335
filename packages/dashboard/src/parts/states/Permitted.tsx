import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ownPermissionsQuery } from "../../api/permissions.ts";
import type { Permission } from "../../document.ts";
import { texts } from "../../texts/texts.ts";
import { Panel } from "../layout/Panel.tsx";
import { EmptyState } from "./EmptyState.tsx";
import { Problem } from "./Problem.tsx";
import { Skeleton } from "./Skeleton.tsx";

interface PermittedProps {
  readonly organizationId: string;
  readonly permission: Permission;
  readonly title: string;
  readonly children: ReactNode;
}

/** Shows a page to people who may see it, and tells others which permission they need. So the page sends no request that would be denied. */
export function Permitted({ organizationId, permission, title, children }: PermittedProps) {
  const { data, error, refetch } = useQuery(ownPermissionsQuery(organizationId));
  if (data?.permissions.includes(permission)) return children;
  if (data === undefined && error === null) return <Skeleton rows={4} />;
  if (data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={title} isFlush>
      <EmptyState title={texts.permitted.title} text={texts.permitted.text(permission, data.roles ?? [])} />
    </Panel>
  );
}
