import type { ReactNode } from "react";
import type { AuditEntry } from "../../../api/audit.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Facts } from "../../../parts/data/Facts.tsx";
import { Dialog } from "../../../parts/dialogs/Dialog.tsx";
import { Command } from "../../../parts/words/Command.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { AuditTarget } from "./AuditTarget.tsx";
import type { AuditSearch } from "./audit-search.ts";

interface AuditEntryDialogProps {
  readonly organizationId: string;
  readonly entry: AuditEntry;
  readonly onClose: () => void;
  /** Shows the entries with the same actor, or those with the same target. */
  readonly onChoose: (search: AuditSearch) => void;
}

export function AuditEntryDialog({ organizationId, entry, onClose, onChoose }: AuditEntryDialogProps) {
  const words = texts.audit;
  const { action, actor, target, details } = entry;
  const { type: targetType, id: targetId } = target;
  return (
    <Dialog isOpen onClose={onClose} title={action}>
      <Facts facts={factsOf(organizationId, entry)} />
      <h3>{words.changes}</h3>
      <Command text={JSON.stringify(details, undefined, 2)} />
      <div className="dialog-actions">
        {actor.type !== "service" && (
          <Button onClick={() => onChoose({ actorId: actor.id })}>{words.byThisActor}</Button>
        )}
        {targetId !== undefined && (
          <Button onClick={() => onChoose({ targetType, targetId })}>{words.ofThisTarget}</Button>
        )}
      </div>
    </Dialog>
  );
}

function factsOf(organizationId: string, entry: AuditEntry): readonly (readonly [string, ReactNode])[] {
  const words = texts.audit;
  const { entryId, recordedAt, actor, outcome, target, requestId, address, seal } = entry;
  return [
    [words.when, <Time key="when" at={recordedAt} />],
    [
      words.who,
      <span key="who">
        {actor.name} · {words.actorTypes[actor.type]} <code>{actor.id}</code>
      </span>,
    ],
    [words.outcome, words.outcomes[outcome]],
    [
      words.target,
      <span key="target">
        <AuditTarget organizationId={organizationId} entry={entry} /> · <code>{target.id}</code>
      </span>,
    ],
    [words.address, address],
    [words.request, <code key="request">{requestId}</code>],
    [words.entry, <code key="entry">{entryId}</code>],
    [words.seal, seal === undefined ? words.notSealed : words.sealNumber(seal.number)],
  ];
}
