import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { acceptInvitation } from "../../api/invitations.ts";
import { useOnce } from "../../api/use-once.ts";
import { Button } from "../../parts/controls/Button.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { texts } from "../../texts/texts.ts";
import { WithAccount } from "../settings/account/WithAccount.tsx";

const route = getRouteApi("/app/invitations/$code");

/**
 * Accepts an invitation as the person who is signed in. The invitation's link leads to another page, which asks for a password. From that page,
 * people who sign in with an external identity provider come here.
 */
export function InvitationPage() {
  const words = texts.invitation;
  const { code } = route.useParams();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const once = useOnce();
  const accept = useMutation({
    mutationFn: () => once(code, (header) => acceptInvitation(code, header)),
    onSuccess: async ({ organizationId }) => {
      await queries.invalidateQueries({ queryKey: ["organizations"] });
      await navigate({ to: "/app/organizations/$organizationId", params: { organizationId } });
    },
  });
  return (
    <>
      <PageHeading title={words.title} />
      <WithAccount title={words.account}>
        {({ displayName, email }) => (
          <>
            <p>{words.text(displayName, email)}</p>
            {accept.error !== null && <Problem error={accept.error} />}
            <div>
              <Button kind="main" isBusy={accept.isPending} onClick={() => accept.mutate()}>
                {words.action}
              </Button>
            </div>
          </>
        )}
      </WithAccount>
    </>
  );
}
