import { deleteOAuthClient, type OAuthClient, oauthClientsQueryKey } from "../../../api/oauth-clients.ts";
import { RemovalDialog } from "../../../parts/dialogs/RemovalDialog.tsx";
import { texts } from "../../../texts/texts.ts";

interface DeleteOAuthClientProps {
  readonly organizationId: string;
  readonly client: OAuthClient;
  readonly onClose: () => void;
}

export function DeleteOAuthClient({ organizationId, client, onClose }: DeleteOAuthClientProps) {
  const words = texts.oauthClients;
  return (
    <RemovalDialog
      onClose={onClose}
      title={words.removeTitle(client.name)}
      description={words.removeText}
      action={words.remove}
      remove={() => deleteOAuthClient(organizationId, client.clientId)}
      removed={words.removed(client.name)}
      queryKey={oauthClientsQueryKey(organizationId)}
    />
  );
}
