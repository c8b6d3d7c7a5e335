import type { Schemas } from "../../document.ts";
import { useUser } from "../../session/use-session.ts";
import { texts } from "../../texts/texts.ts";
import { useNameOf } from "./use-name-of.ts";

interface ActorNameProps {
  readonly organizationId: string;
  readonly actor: Schemas["Actor"];
}

/** The actor of a change, by name if the reader may know it. The title has the id. */
export function ActorName({ organizationId, actor: { type, id } }: ActorNameProps) {
  const { userId } = useUser();
  const known = useNameOf(organizationId, type, id);
  const name = id === userId ? texts.actor.you : known;
  return <span title={id}>{name ?? texts.actor[type](id.slice(0, 8))}</span>;
}
