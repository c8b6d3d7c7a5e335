import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { comeBack, depart, interactionIdOf } from "../../auth/external/journey.ts";
import { type ExternalProvider, redirectUriOf, signInNameOf } from "../../auth/external/provider.ts";
import { explainRejection } from "../../auth/external/rejection-explanations.ts";
import type { JoinedProvider } from "../../auth/external/single-sign-on.ts";
import { completeSignIn } from "../../auth/oidc/complete-sign-in.ts";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import type { ServerParts } from "../door/app.ts";
import { alert } from "../pages/form.ts";
import { html } from "../pages/html.ts";
import { goTo, type Interaction, interactionOf, signInPath } from "./interaction.ts";
import { openJourney, sealJourney } from "./journey-cookie.ts";
import { type Look, showPage } from "./look.ts";
import { showTooLate } from "./problem-page.ts";
import { wayOut } from "./sign-in-form.ts";

/**
 * Sends the browser to an external issuer, and takes it back. The issuer redirects to one address of ours per provider, which is outside the path of
 * the sign-in's cookies. So that address redirects to one below the sign-in, to which browsers send these cookies.
 */
export function externalSignIn(provider: Provider, parts: ServerParts, look: Look): Middleware {
  const { singleSignOn, openId, secrets, engine, publicUrl } = parts;
  return async (ctx, next) => {
    if (ctx.method !== "GET") return await next();
    const arrivedAt = /^\/callback\/([a-z0-9-]{1,40})$/.exec(ctx.path)?.[1];
    if (arrivedAt !== undefined) return sendOn(ctx, arrivedAt);
    const [, uid, id, isBack] = /^\/sign-in\/([\w-]{1,64})\/with\/([a-z0-9-]{1,40})(\/back)?$/.exec(ctx.path) ?? [];
    const joined = id === undefined ? undefined : singleSignOn.find(id);
    if (uid === undefined || joined === undefined) return await next();
    const interaction = await interactionOf(provider, ctx, uid);
    if (interaction === undefined) return showTooLate(ctx, look);
    if (isBack === undefined) await leave(ctx, interaction, joined);
    else await finish(ctx, interaction, joined);
  };

  function sendOn(ctx: KoaContextWithOIDC, id: string): void {
    const uid = interactionIdOf(new URLSearchParams(ctx.querystring).get("state"));
    if (uid === undefined || singleSignOn.find(id) === undefined) showTooLate(ctx, look);
    else goTo(ctx, `${signInPath(publicUrl(), uid)}/with/${id}/back?${ctx.querystring}`);
  }

  async function leave(ctx: KoaContextWithOIDC, { uid, params }: Interaction, joined: JoinedProvider): Promise<void> {
    const { login_hint: hint } = ctx.query;
    const { url, journey } = await depart(joined, {
      interactionId: uid,
      redirectUri: redirectUriOf(publicUrl(), joined.provider),
      loginHint: typeof hint === "string" && hint.length <= maxHintLength ? hint : undefined,
      asksAgain:
        params.max_age !== undefined ||
        String(params.prompt ?? "")
          .split(" ")
          .includes("login"),
    });
    const sealed = sealJourney(secrets, uid, joined.provider.id, { ...journey, at: engine.now() });
    setCookie(ctx, uid, sealed);
    goTo(ctx, url.href);
  }

  async function finish(ctx: KoaContextWithOIDC, { uid }: Interaction, joined: JoinedProvider): Promise<void> {
    const sealed = ctx.cookies.get(cookieName());
    // The cookie is used once, whatever the outcome.
    setCookie(ctx, uid, null);
    const journey = openJourney(secrets, uid, joined.provider.id, sealed, engine.now());
    if (journey === undefined) return showTooLate(ctx, look);
    const arrival = new URL(`${redirectUriOf(publicUrl(), joined.provider)}?${ctx.querystring}`);
    const back = await comeBack(joined, arrival, journey, engine.now());
    const { name } = joined.provider;
    if (back.outcome === "rejected") {
      if (back.reason === "not-valid") singleSignOn.parts.onTrouble(joined.provider, back.cause);
      return showNotSignedIn(ctx, uid, back.reason === "cancelled" ? cancelled(name) : notValid(name));
    }
    const source = { requestId: ctx.response.get("x-request-id"), address: ctx.ip };
    const admission = await singleSignOn.parts.admit(joined.provider, back.claims, source);
    if (admission.outcome === "rejected") return showNotSignedIn(ctx, uid, explainRejection(name, admission.reason));
    const grounds = { type: "issuer", authenticatedAt: back.authenticatedAt ?? null } as const;
    const proven = { userId: admission.userId, signedInBy: signInNameOf(joined.provider), grounds };
    goTo(ctx, await completeSignIn(provider, openId.sessions, ctx, proven));
  }

  /** The cookie is for the sign-in's own path alone. It is Lax, since the way back begins at another site. */
  function setCookie(ctx: KoaContextWithOIDC, uid: string, value: string | null): void {
    ctx.cookies.set(cookieName(), value, {
      httpOnly: true,
      sameSite: "lax",
      secure: look.isSecure(),
      path: signInPath(publicUrl(), uid),
      overwrite: true,
      signed: false,
    });
  }

  function cookieName(): string {
    return look.isSecure() ? "__Secure-stepwell-journey" : "stepwell-journey";
  }

  function showNotSignedIn(ctx: KoaContextWithOIDC, uid: string, detail: string): void {
    showPage(ctx, look, {
      status: 403,
      title: "You are not signed in",
      content: html`${alert(detail)}
<p><a href="${signInPath(publicUrl(), uid)}">Back to the sign-in</a></p>
<p class="note">If you ask for help, name this request: ${ctx.response.get("x-request-id")}.</p>`,
    });
  }
}

/** No e-mail address is longer (RFC 5321). */
const maxHintLength = 254;

/** Shows a page that leads on to the issuer. A redirect would follow a form, and the page's policy lets forms lead to this service alone. */
export function showWayOut(
  ctx: KoaContextWithOIDC,
  look: Look,
  action: string,
  provider: ExternalProvider,
  email: string,
): void {
  const hint = new URLSearchParams({ login_hint: email });
  showPage(ctx, look, {
    title: `Continue with ${provider.name}`,
    goesTo: `${action}/with/${provider.id}?${hint}`,
    content: html`<p>With your e-mail address, you sign in with ${provider.name}.</p>
${wayOut(action, provider, email)}
<p><a href="${action}">Use another address</a></p>`,
  });
}

function cancelled(name: string): string {
  return `${name} refused the sign-in, or you cancelled it there.`;
}

function notValid(name: string): string {
  return `The answer of ${name} does not belong to this sign-in. Sign in again. If this message appears again, tell the operator of this service.`;
}
