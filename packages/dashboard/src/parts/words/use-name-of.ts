import { useQuery } from "@tanstack/react-query";
import { apiTokenNamesQuery } from "../../api/api-tokens.ts";
import { memberNamesQuery } from "../../api/members.ts";
import { usePermission } from "../../api/permissions.ts";
import { workflowNamesQuery } from "../../api/workflows.ts";

/**
 * Returns the name of a user, an API token or a workflow. Undefined until the names are loaded, and always if the reader has no permission to see
 * them. Also undefined for other kinds, for things that no longer exist, and for things that are not among the first 200 of their kind.
 */
export function useNameOf(organizationId: string, type: string, id: string): string | undefined {
  const mayReadMembers = usePermission(organizationId, "member:read");
  const mayReadTokens = usePermission(organizationId, "apitoken:read");
  const mayReadWorkflows = usePermission(organizationId, "workflow:read");
  const isUser = type === "user" || type === "member";
  const { data: members } = useQuery({ ...memberNamesQuery(organizationId), enabled: mayReadMembers && isUser });
  const isToken = type === "apiToken";
  const { data: tokens } = useQuery({ ...apiTokenNamesQuery(organizationId), enabled: mayReadTokens && isToken });
  const isWorkflow = type === "workflow";
  const readWorkflows = { ...workflowNamesQuery(organizationId), enabled: mayReadWorkflows && isWorkflow };
  const { data: workflows } = useQuery(readWorkflows);
  return (isUser ? members : isToken ? tokens : isWorkflow ? workflows : undefined)?.get(id);
}
