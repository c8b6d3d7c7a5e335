import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/document.ts";
import { memberNamesQuery } from "../../api/members.ts";
import { usePermission } from "../../api/permissions.ts";
import { useUser } from "../../session/use-session.ts";
import { texts } from "../../texts/texts.ts";

interface ActorNameProps {
  readonly organizationId: string;
  readonly actor: Schemas["Actor"];
}

/** Who did something, by name where the reader may know it; the id is in the title. */
export function ActorName({ organizationId, actor: { type, id } }: ActorNameProps) {
  const { userId } = useUser();
  const mayReadMembers = usePermission(organizationId, "member:read");
  const { data: names } = useQuery({ ...memberNamesQuery(organizationId), enabled: mayReadMembers && type === "user" });
  const name = id === userId ? texts.actor.you : names?.get(id);
  return <span title={id}>{name ?? texts.actor[type](id.slice(0, 8))}</span>;
}
