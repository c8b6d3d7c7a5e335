import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { dashboardClientId } from "../../auth/oidc/clients.ts";
import { completeSignIn } from "../../auth/oidc/complete-sign-in.ts";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import { openedLinkCookie, readOpenedLink } from "../../auth/passwords/sign-in-link.ts";
import { findUsers } from "../../store/people/users.ts";
import type { ServerParts } from "../door/app.ts";
import type { Look } from "./look.ts";

/**
 * Runs before the sign-in page. At the sign-in to the dashboard, a browser is not asked for a password if it has just opened a link of `stepwell
 * dev`, or if the person has just given the password on the page of an invitation.
 */
export function signInByLink(provider: Provider, parts: ServerParts, look: Look): Middleware {
  const { openId, secrets, engine, basePath } = parts;
  return async (ctx, next) => {
    if (ctx.method !== "GET" || !ctx.path.startsWith("/sign-in/")) return await next();
    const { name, path } = openedLinkCookie(basePath, look.isSecure());
    const sealed = ctx.cookies.get(name);
    if (sealed === undefined) return await next();
    // The cookie is removed whatever the outcome, so that a second sign-in asks for the password.
    ctx.cookies.set(name, null, { path });
    const opened = readOpenedLink(secrets, sealed, engine.now());
    if (opened === undefined || !(await isForDashboard(provider, ctx))) return await next();
    const { userId, password } = opened;
    // A provider may have become responsible for the e-mail address after the password was given. A sign-in link is not checked for this, because it
    // is for the machine on which the service runs.
    if (password !== undefined && (await hasProvider(parts, userId))) return await next();
    const grounds =
      password === undefined
        ? ({ type: "proof" } as const)
        : ({ type: "password", passwordChangedAt: password.changedAt, deviceId: null } as const);
    const proven = { userId, signedInBy: "link", grounds };
    ctx.status = 303;
    ctx.redirect(await completeSignIn(provider, openId.sessions, ctx, proven));
    ctx.status = 303;
    ctx.body = "";
  };
}

/** True for a person who signs in only at an identity provider. */
async function hasProvider({ database, singleSignOn }: ServerParts, userId: string): Promise<boolean> {
  const [user] = await findUsers(database, [userId]);
  return user !== undefined && singleSignOn.forEmail(user.email) !== undefined;
}

/** A link only opens the dashboard. It never signs in a device. */
async function isForDashboard(provider: Provider, ctx: KoaContextWithOIDC): Promise<boolean> {
  try {
    const { params, uid } = await provider.interactionDetails(ctx.req, ctx.res);
    return params.client_id === dashboardClientId && ctx.path === `/sign-in/${uid}`;
  } catch (error) {
    if (error instanceof Error && error.name === "SessionNotFound") return false;
    throw error;
  }
}
