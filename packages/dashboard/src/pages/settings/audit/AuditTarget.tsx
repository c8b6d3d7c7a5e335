import type { AuditEntry } from "../../../api/audit.ts";
import { useNameOf } from "../../../parts/words/use-name-of.ts";
import { texts } from "../../../texts/texts.ts";

interface AuditTargetProps {
  readonly organizationId: string;
  readonly target: AuditEntry["target"];
}

/** The kind of a thing and its name, or its id where it has none or is gone; the id is in the title. */
export function AuditTarget({ organizationId, target: { type, id } }: AuditTargetProps) {
  const name = useNameOf(organizationId, type, id ?? "");
  return (
    <span title={id}>
      {texts.audit.targets[type]} {name ?? (id !== undefined && <code>{id}</code>)}
    </span>
  );
}
