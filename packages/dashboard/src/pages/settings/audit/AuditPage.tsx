import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type AuditEntry, auditQuery } from "../../../api/audit.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { AuditEntryDialog } from "./AuditEntryDialog.tsx";
import { AuditExport } from "./AuditExport.tsx";
import { AuditFilterForm } from "./AuditFilterForm.tsx";
import { AuditTarget } from "./AuditTarget.tsx";
import { AuditVerification } from "./AuditVerification.tsx";
import { type AuditSearch, parseAuditSearch } from "./audit-search.ts";

const address = "/app/organizations/$organizationId/settings/audit";

/** The audit trail: accepted and denied changes with their actors. The filters are in the address. */
export function AuditPage() {
  const { organizationId } = useParams({ from: address });
  const given = useSearch({ from: address });
  // The router keeps parameters that it does not know, but the API would reject them.
  const search = useMemo(() => parseAuditSearch(given), [given]);
  const navigate = useNavigate();
  const choose = (next: AuditSearch) => void navigate({ to: address, params: { organizationId }, search: next });
  return (
    <Permitted organizationId={organizationId} permission="audit:read" title={texts.audit.title}>
      <AuditFilterForm search={search} onChange={choose} />
      <Entries organizationId={organizationId} search={search} onChoose={choose} />
    </Permitted>
  );
}

interface EntriesProps {
  readonly organizationId: string;
  readonly search: AuditSearch;
  readonly onChoose: (search: AuditSearch) => void;
}

function Entries({ organizationId, search, onChoose }: EntriesProps) {
  const words = texts.audit;
  const query = useInfiniteQuery(auditQuery(organizationId, search));
  const [shown, setShown] = useState<AuditEntry | undefined>();
  return (
    <>
      <ListPanel
        title={words.title}
        caption={words.caption}
        query={query}
        rows={query.data?.pages.flatMap((page) => page.entries)}
        rowKey={({ entryId }) => entryId}
        columns={columnsFor(organizationId, setShown)}
        empty={<EmptyState title={words.noneTitle} text={words.none} />}
        actions={
          <div className="row">
            <AuditVerification organizationId={organizationId} />
            <AuditExport organizationId={organizationId} search={search} />
          </div>
        }
      />
      {shown !== undefined && (
        <AuditEntryDialog
          organizationId={organizationId}
          entry={shown}
          onClose={() => setShown(undefined)}
          onChoose={(next) => {
            setShown(undefined);
            onChoose(next);
          }}
        />
      )}
    </>
  );
}

function columnsFor(organizationId: string, onShow: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  const words = texts.audit;
  return [
    { id: "action", header: words.action, cell: ({ action }) => <strong title={action}>{action}</strong> },
    {
      id: "when",
      header: words.when,
      isOptional: true,
      isSelfEvident: true,
      width: "160px",
      cell: ({ recordedAt }) => <Time at={recordedAt} />,
    },
    {
      id: "who",
      width: "24%",
      header: words.who,
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: ({ actor: { type, id, name } }) => <span title={id}>{name ?? texts.actor[type](id.slice(0, 8))}</span>,
    },
    {
      id: "target",
      header: words.target,
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      width: "26%",
      cell: (entry) => <AuditTarget organizationId={organizationId} entry={entry} />,
    },
    {
      id: "outcome",
      header: words.outcome,
      width: "88px",
      isOptional: true,
      isSelfEvident: true,
      cell: ({ outcome }) =>
        outcome === "denied" ? <strong>{words.outcomes.denied}</strong> : words.outcomes.accepted,
    },
    {
      id: "details",
      header: words.details,
      align: "end",
      width: "100px",
      cell: (entry) => (
        <Button
          kind="quiet"
          aria-label={words.detailsOf(entry.action, entry.entryId.slice(-6))}
          onClick={() => onShow(entry)}
        >
          {words.details}
        </Button>
      ),
    },
  ];
}
