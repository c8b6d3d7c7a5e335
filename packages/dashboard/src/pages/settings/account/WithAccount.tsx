import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Account, accountQuery } from "../../../api/account.ts";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import "./WithAccount.css";

interface WithAccountProps {
  readonly title: string;
  readonly children: (account: Account) => ReactNode;
}

/** A panel about the account, once it is known. */
export function WithAccount({ title, children }: WithAccountProps) {
  const { data, error, refetch } = useQuery(accountQuery);
  return (
    <Panel title={title}>
      {error !== null && data === undefined && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data !== undefined && <div className="stack account-form">{children(data)}</div>}
    </Panel>
  );
}
