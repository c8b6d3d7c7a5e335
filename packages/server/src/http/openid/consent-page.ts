import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { findOrganizationClient } from "../../auth/oidc/organization-clients.ts";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import { consentToOAuthClient } from "../../management/organizations/oauth-clients.ts";
import type { FoundOAuthClient } from "../../store/access/oauth-clients.ts";
import { findUsers, type User } from "../../store/people/users.ts";
import type { ServerParts } from "../door/app.ts";
import { button } from "../pages/form.ts";
import { html } from "../pages/html.ts";
import { formTargetsOf, goTo, type Interaction, interactionOf, signInPath } from "./interaction.ts";
import { type Look, showPage } from "./look.ts";
import { readForm } from "./posted-form.ts";
import { showTooLate } from "./problem-page.ts";

/**
 * Serves the page on which a member agrees that an OAuth client of an organization acts for them. They are asked again only after they have withdrawn
 * the consent or left the organization, or when the client demands it.
 */
export function consentPage(provider: Provider, parts: ServerParts, look: Look): Middleware {
  return async (ctx, next) => {
    const uid = /^\/sign-in\/([\w-]{1,64})$/.exec(ctx.path)?.[1];
    if (uid === undefined || !(ctx.method === "GET" || ctx.method === "POST")) return await next();
    const interaction = await interactionOf(provider, ctx, uid);
    if (interaction?.prompt.name !== "consent") return await next();
    const client = await findOrganizationClient(parts.database, String(interaction.params.client_id));
    const [user] = await findUsers(parts.database, [String(interaction.session?.accountId)]);
    if (client === undefined || user === undefined) return showTooLate(ctx, look);
    if (ctx.method === "GET") return show(ctx, look, parts, { interaction, client, user });
    const form = await readForm(ctx, parts, look);
    if (form === undefined) return;
    if (!form.has("agree")) return goTo(ctx, await refuse(provider, ctx, "The user did not agree."));
    const act = {
      actor: { type: "user", id: user.userId, name: user.displayName },
      operation: "ConsentToOAuthClient",
      requestId: ctx.response.get("x-request-id"),
      address: ctx.ip,
    } as const;
    if (!(await consentToOAuthClient(parts, act, client.clientId))) {
      return goTo(ctx, await refuse(provider, ctx, "The user is not a member of the organization."));
    }
    const agreed = await provider.interactionResult(
      ctx.req,
      ctx.res,
      { consent: {} },
      { mergeWithLastSubmission: true },
    );
    goTo(ctx, agreed);
  };
}

/** Ends the sign-in with an error that tells the client the reason. */
async function refuse(provider: Provider, ctx: KoaContextWithOIDC, reason: string): Promise<string> {
  const result = { error: "access_denied", error_description: reason };
  return await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
}

interface Consent {
  readonly interaction: Interaction;
  readonly client: FoundOAuthClient;
  readonly user: User;
}

function show(
  ctx: KoaContextWithOIDC,
  look: Look,
  { publicUrl }: ServerParts,
  { interaction, client, user }: Consent,
): void {
  const { host } = new URL(String(interaction.params.redirect_uri));
  showPage(ctx, look, {
    title: "Allow this application to act for you?",
    ...formTargetsOf(interaction),
    content: html`<p>An application of the organization <strong>${client.organizationName}</strong> wants to act for you. In this organization it will be able to do what you can do there, except change or delete the organization and manage tokens, members, roles and applications. It learns your name and your e-mail address.</p>
<dl>
<dt>Application</dt><dd>${client.name}</dd>
<dt>Organization</dt><dd>${client.organizationName}</dd>
<dt>You continue to</dt><dd>${host}</dd>
<dt>You are signed in as</dt><dd>${user.displayName} (${user.email})</dd>
</dl>
<form method="post" action="${signInPath(publicUrl(), interaction.uid)}">
${button("Allow", "main", { name: "agree", value: "yes" })}
${button("Do not allow", "quiet", { name: "refuse", value: "yes" })}
</form>
<p class="note">You are asked this once. The list of your sessions shows the application. If you end its session there, it has no access any more, and must ask you again.</p>`,
  });
}
