import { useQuery } from "@tanstack/react-query";
import { apiTokenNamesQuery } from "../../api/api-tokens.ts";
import { memberNamesQuery } from "../../api/members.ts";
import { usePermission } from "../../api/permissions.ts";

/** The name of a user or an API token; undefined for other kinds, for one that is gone, and where the reader may not know it. */
export function useNameOf(organizationId: string, type: string, id: string): string | undefined {
  const mayReadMembers = usePermission(organizationId, "member:read");
  const mayReadTokens = usePermission(organizationId, "apitoken:read");
  const isUser = type === "user" || type === "member";
  const { data: members } = useQuery({ ...memberNamesQuery(organizationId), enabled: mayReadMembers && isUser });
  const isToken = type === "apiToken";
  const { data: tokens } = useQuery({ ...apiTokenNamesQuery(organizationId), enabled: mayReadTokens && isToken });
  return isUser ? members?.get(id) : isToken ? tokens?.get(id) : undefined;
}
