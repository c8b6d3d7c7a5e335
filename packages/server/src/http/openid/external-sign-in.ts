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

/** Sends the browser to an external issuer, and signs the person in when the browser comes back. */
export function externalSignIn(provider: Provider, parts: ServerParts, look: Look): Middleware {
  const journeys = new Journeys(provider, parts, look);
  return async (ctx, next) => {
    if (ctx.method !== "GET") return await next();
    const arrivedAt = /^\/callback\/([a-z0-9-]{1,40})$/.exec(ctx.path)?.[1];
    if (arrivedAt !== undefined) return journeys.sendOn(ctx, arrivedAt);
    const [, uid, id, isBack] = /^\/sign-in\/([\w-]{1,64})\/with\/([a-z0-9-]{1,40})(\/back)?$/.exec(ctx.path) ?? [];
    const joined = id === undefined ? undefined : parts.singleSignOn.find(id);
    if (uid === undefined || joined === undefined) return await next();
    const interaction = await interactionOf(provider, ctx, uid);
    if (interaction === undefined) return showTooLate(ctx, look);
    if (isBack === undefined) await journeys.leave(ctx, interaction, joined);
    else await journeys.finish(ctx, interaction, joined);
  };
}

/** The journeys of browsers from a sign-in to an external issuer and back. A cookie remembers each journey. */
class Journeys {
  readonly #provider: Provider;
  readonly #parts: ServerParts;
  readonly #look: Look;

  constructor(provider: Provider, parts: ServerParts, look: Look) {
    this.#provider = provider;
    this.#parts = parts;
    this.#look = look;
  }

  async leave(ctx: KoaContextWithOIDC, { uid, params }: Interaction, joined: JoinedProvider): Promise<void> {
    const { secrets, engine } = this.#parts;
    const { login_hint: hint } = ctx.query;
    const { url, journey } = await depart(joined, {
      interactionId: uid,
      redirectUri: this.#redirectUriOf(joined),
      loginHint: typeof hint === "string" && hint.length <= maxHintLength ? hint : undefined,
      asksAgain:
        params.max_age !== undefined ||
        String(params.prompt ?? "")
          .split(" ")
          .includes("login"),
    });
    this.#setCookie(ctx, uid, sealJourney(secrets, uid, joined.provider.id, { ...journey, at: engine.now() }));
    goTo(ctx, url.href);
  }

  /**
   * Redirects to an address below the path of the sign-in, to which browsers send the cookies of the sign-in. The issuer cannot redirect there by
   * itself, because only one fixed address is registered at it for each provider of the configuration.
   */
  sendOn(ctx: KoaContextWithOIDC, id: string): void {
    const uid = interactionIdOf(new URLSearchParams(ctx.querystring).get("state"));
    if (uid === undefined || this.#parts.singleSignOn.find(id) === undefined) showTooLate(ctx, this.#look);
    else goTo(ctx, `${this.#pathOf(uid)}/with/${id}/back?${ctx.querystring}`);
  }

  async finish(ctx: KoaContextWithOIDC, { uid }: Interaction, joined: JoinedProvider): Promise<void> {
    const { singleSignOn, openId, secrets, engine } = this.#parts;
    const sealed = ctx.cookies.get(this.#cookieName());
    // The cookie works once, so it is removed whatever the outcome.
    this.#setCookie(ctx, uid, null);
    const journey = openJourney(secrets, uid, joined.provider.id, sealed, engine.now());
    if (journey === undefined) return showTooLate(ctx, this.#look);
    const arrival = new URL(`${this.#redirectUriOf(joined)}?${ctx.querystring}`);
    const back = await comeBack(joined, arrival, journey, engine.now());
    const { name } = joined.provider;
    if (back.outcome === "rejected") {
      if (back.reason === "not-valid") singleSignOn.parts.onTrouble(joined.provider, back.cause);
      return this.#showNotSignedIn(ctx, uid, back.reason === "cancelled" ? cancelled(name) : notValid(name));
    }
    const source = { requestId: ctx.response.get("x-request-id"), address: ctx.ip };
    const admission = await singleSignOn.parts.admit(joined.provider, back.claims, source);
    if (admission.outcome === "rejected") {
      return this.#showNotSignedIn(ctx, uid, explainRejection(name, admission.reason));
    }
    const grounds = { type: "issuer", authenticatedAt: back.authenticatedAt ?? null } as const;
    const proven = { userId: admission.userId, signedInBy: signInNameOf(joined.provider), grounds };
    goTo(ctx, await completeSignIn(this.#provider, openId.sessions, ctx, proven));
  }

  /** The cookie is only for the path of the sign-in. It is Lax, because the way back begins at another site. */
  #setCookie(ctx: KoaContextWithOIDC, uid: string, value: string | null): void {
    ctx.cookies.set(this.#cookieName(), value, {
      httpOnly: true,
      sameSite: "lax",
      secure: this.#look.isSecure(),
      path: this.#pathOf(uid),
      overwrite: true,
      signed: false,
    });
  }

  #cookieName(): string {
    return this.#look.isSecure() ? "__Secure-stepwell-journey" : "stepwell-journey";
  }

  #showNotSignedIn(ctx: KoaContextWithOIDC, uid: string, detail: string): void {
    showPage(ctx, this.#look, {
      status: 403,
      title: "You are not signed in",
      content: html`${alert(detail)}
<p><a href="${this.#pathOf(uid)}">Back to the sign-in</a></p>
<p class="note">If you ask for help, name this request: ${ctx.response.get("x-request-id")}.</p>`,
    });
  }

  #redirectUriOf({ provider }: JoinedProvider): string {
    return redirectUriOf(this.#parts.publicUrl(), provider);
  }

  #pathOf(uid: string): string {
    return signInPath(this.#parts.publicUrl(), uid);
  }
}

/** An e-mail address is never longer (RFC 5321). */
const maxHintLength = 254;

/**
 * Shows a page that leads to the issuer. A redirect would be the answer to a form, and the policy of the form's page lets forms lead only to this
 * service and its clients.
 */
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
