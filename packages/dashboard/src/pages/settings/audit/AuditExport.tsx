import { useMutation } from "@tanstack/react-query";
import { exportAudit } from "../../../api/audit.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { download } from "../../../parts/data/download.ts";
import { Problem } from "../../../parts/states/Problem.tsx";
import { texts } from "../../../texts/texts.ts";
import type { AuditSearch } from "./audit-search.ts";

interface AuditExportProps {
  readonly organizationId: string;
  readonly search: AuditSearch;
}

/** Exports all entries that match the filters, not only the rows that are loaded. */
export function AuditExport({ organizationId, search }: AuditExportProps) {
  const words = texts.audit;
  const take = useMutation({
    mutationFn: () => exportAudit(organizationId, search),
    onSuccess: (csv) => download(csv, `audit-${organizationId}.csv`),
  });
  return (
    <>
      {take.error !== null && <Problem error={take.error} />}
      <Button icon="out" isBusy={take.isPending} onClick={() => take.mutate()}>
        {words.export}
      </Button>
    </>
  );
}
