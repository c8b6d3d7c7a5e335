import { useMutation } from "@tanstack/react-query";
import { exportAudit } from "../../../api/audit.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { texts } from "../../../texts/texts.ts";
import type { AuditSearch } from "./audit-search.ts";

interface AuditExportProps {
  readonly organizationId: string;
  readonly search: AuditSearch;
}

/** All that the filters let through, not only the rows that are loaded. */
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

/** Hands a file to the browser to keep. A link to the service would not do: it carries no token. */
function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
