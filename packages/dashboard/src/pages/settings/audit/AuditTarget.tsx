import type { AuditEntry } from "../../../api/audit.ts";
import { useNameOf } from "../../../parts/words/use-name-of.ts";
import { texts } from "../../../texts/texts.ts";

interface AuditTargetProps {
  readonly organizationId: string;
  readonly entry: Pick<AuditEntry, "target" | "details">;
}

/** The kind of a thing and its name, or its id if no name is known. The tooltip always has the id. */
export function AuditTarget({ organizationId, entry }: AuditTargetProps) {
  const { type, id } = entry.target;
  const name = useTargetName(organizationId, entry);
  // The id of an organization is not shown, since all entries belong to the same one.
  const isPlain = name === undefined && id !== undefined && type !== "organization";
  return (
    <span title={id}>
      {texts.audit.targets[type]} {name}
      {isPlain && <code>{id}</code>}
    </span>
  );
}

/** An entry of most kinds has the name of its target. So a target that no longer exists mostly still has a name here. */
function useTargetName(organizationId: string, { target, details }: AuditTargetProps["entry"]): string | undefined {
  const { type, id = "" } = target;
  const { name, email, workflowId, versionNumber } = details;
  const workflow = useNameOf(organizationId, "workflow", typeof workflowId === "string" ? workflowId : "");
  const present = useNameOf(organizationId, type, id);
  const words = texts.audit;
  switch (type) {
    case "version":
      return typeof versionNumber === "number" ? words.versionOf(versionNumber, workflow) : undefined;
    case "tag":
      return words.tagOf(id, workflow);
    case "invitation":
      return typeof email === "string" ? email : undefined;
    case "role":
    case "taskQueue":
      return id;
    default:
      return typeof name === "string" ? name : present;
  }
}
