import type {
  Configuration,
  errors,
  FindAccount,
  interactionPolicy,
  KoaContextWithOIDC,
  Provider,
} from "oidc-provider";
import { findMemberships } from "../../store/access/members.ts";
import { organizationOfClient } from "../credentials/token-form.ts";
import { adapterOver } from "./adapter.ts";
import { allowClientOrigin } from "./client-origins.ts";
import { clientOrigins, clientsOf, commandLineClientId } from "./clients.ts";
import { browserSession } from "./ended-sessions.ts";
import { grantIdOf, ownerOfGrant } from "./grant-id.ts";
import { accessTokenSeconds, codeSeconds, deviceCodeSeconds, idTokenSeconds, interactionSeconds } from "./lifetimes.ts";
import { mayActFor } from "./organization-clients.ts";
import type { DeviceCodeProblem, OpenIdProviderParts } from "./provider-parts.ts";
import type { NewSession } from "./sessions.ts";
import type { SigningKey } from "./signing-keys.ts";

interface Parts extends Omit<OpenIdProviderParts, "middlewares" | "onSessionsEnded" | "onFailure"> {
  readonly keys: readonly SigningKey[];
  readonly errors: typeof errors;
  readonly interactionPolicy: typeof interactionPolicy;
}

const scopes = ["openid", "offline_access", "profile", "email"];

/** The configuration of the provider. Features that are not named here are switched off. */
export function providerConfiguration(parts: Parts): Configuration {
  const { config, pages, publicUrl } = parts;
  const isSecure = publicUrl().startsWith("https:");
  const mount = new URL(`${publicUrl()}/oidc`).pathname;
  const sessionSeconds = config.sessionHours * 3_600;
  const policy = signInPolicy(parts);
  const clients = clientsOf(publicUrl(), config.dashboardRedirectUris);
  const origins = clientOrigins(clients);
  return {
    adapter: adapterOver(parts),
    clients,
    clientAuthMethods: ["none"],
    // Browsers send the origin of a page that asks for tokens, even if it is the service's own origin.
    clientBasedCORS: (ctx, origin, client) => allowClientOrigin(ctx, origin, client, origins),
    jwks: { keys: [...parts.keys] as NonNullable<Configuration["jwks"]>["keys"] },
    enabledJWA: { idTokenSigningAlgValues: ["RS256"], userinfoSigningAlgValues: ["RS256"] },
    responseTypes: ["code"],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    scopes,
    claims: { openid: ["sub", "sid"], profile: ["name"], email: ["email"] },
    // Claims go into the id token itself, which is the token that clients use.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      resourceIndicators: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      userinfo: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: async (ctx) => pages.confirmSignOut(ctx),
        postLogoutSuccessSource: async (ctx) => pages.signedOut(ctx),
      },
      deviceFlow: {
        enabled: true,
        charset: "base-20",
        mask: "****-****",
        deviceInfo: (ctx) => ({ address: ctx.ip, userAgent: ctx.get("user-agent") }),
        userCodeInputSource: async (ctx, _form, _out, error) => pages.enterDeviceCode(ctx, problemOf(error)),
        userCodeConfirmSource: async (ctx, _form, client, deviceInfo, userCode) =>
          pages.confirmDevice(ctx, {
            clientName: client.clientName ?? client.clientId,
            userCode,
            address: String(deviceInfo.address ?? ""),
            userAgent: String(deviceInfo.userAgent ?? ""),
          }),
        successSource: async (ctx) => pages.deviceSignedIn(ctx),
      },
    },
    renderError: (ctx, out) => pages.error(ctx, out),
    interactions: { policy, url: (_ctx, interaction) => `${mount}/sign-in/${interaction.uid}` },
    cookies: {
      names: {
        session: isSecure ? "__Host-stepwell-session" : "stepwell-session",
        // Each of these two cookies is for one path, which the prefix `__Host-` does not allow.
        interaction: isSecure ? "__Secure-stepwell-sign-in" : "stepwell-sign-in",
        resume: isSecure ? "__Secure-stepwell-resume" : "stepwell-resume",
      },
      // The cookies are Lax and not Strict: a sign-in at an external issuer comes back from another site.
      long: { httpOnly: true, sameSite: "lax", secure: isSecure },
      short: { httpOnly: true, sameSite: "lax", secure: isSecure },
    },
    ttl: {
      IdToken: idTokenSeconds,
      AccessToken: accessTokenSeconds,
      AuthorizationCode: codeSeconds,
      DeviceCode: deviceCodeSeconds,
      Interaction: interactionSeconds,
      // While nobody is signed in, the session of a browser has to last only as long as an interaction.
      Session: (_ctx, { accountId }) => (accountId === undefined ? interactionSeconds : sessionSeconds),
      Grant: sessionSeconds,
      RefreshToken: sessionSeconds,
    },
    findAccount: findAccountIn(parts),
    loadExistingGrant: async (ctx) => await grantFor(ctx, parts),
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    // The tokens of a page end with the session of its browser. A command line has its own session.
    expiresWithSession: async (_ctx, source) => source.clientId !== commandLineClientId,
  };
}

function problemOf(
  error: (Error & { readonly userCode?: string | undefined }) | undefined,
): DeviceCodeProblem | undefined {
  if (error === undefined) return undefined;
  if (error.name === "AbortedError") return "cancelled";
  return error.userCode !== undefined || error.name === "NoCodeError" ? "not-a-code" : "failed";
}

/**
 * A token's account exists as long as the session in which the token was issued. A browser's account exists as long as the session of its sign-in:
 * once that is ended, the browser's cookie alone signs nobody in.
 */
function findAccountIn({ sessions, store }: Pick<Parts, "sessions" | "store">): FindAccount {
  return async (ctx, userId, token) => {
    const grantId = token !== undefined && "grantId" in token ? token.grantId : undefined;
    const grant = token === undefined ? undefined : ownerOfGrant(String(grantId));
    const sessionId = token === undefined ? browserSessionOf(ctx) : grant?.sessionId;
    if (sessionId === undefined) return undefined;
    const session = await sessions.use({ userId, sessionId });
    if (session === undefined) return undefined;
    const { clientId } = session;
    if (clientId !== null) {
      if (clientId !== grant?.clientId || !(await mayActFor(store.current, clientId, userId))) return undefined;
    }
    return {
      accountId: userId,
      claims: () => ({ sub: userId, sid: sessionId, name: session.userName, email: session.email }),
    };
  };
}

/** Returns the session of a sign-in that was just completed (`complete-sign-in.ts`), or else of an earlier one. */
function browserSessionOf(ctx: KoaContextWithOIDC): string | undefined {
  const completed = ctx.oidc.result?.signIn as { readonly sessionId?: string } | undefined;
  return completed?.sessionId ?? ctx.oidc.session?.sidFor(browserSession);
}

/**
 * Returns the grant of a client. The service's own clients need no consent. A client of an organization gets nothing before the member has agreed:
 * undefined makes the provider show the page that asks for consent. A device gets a session of its own, and so does a client of an organization.
 */
async function grantFor(
  ctx: KoaContextWithOIDC,
  parts: Pick<Parts, "sessions" | "store" | "errors">,
): Promise<InstanceType<Provider["Grant"]> | undefined> {
  const { provider, session, client, account, deviceCode } = ctx.oidc;
  const browserSessionId = browserSessionOf(ctx);
  if (session === undefined || client === undefined || account === undefined || browserSessionId === undefined) {
    throw new Error("A grant was asked for before anybody signed in.");
  }
  session.sidFor(browserSession, browserSessionId);
  const userId = account.accountId;
  const { sessions, store, errors } = parts;
  const organizationId = organizationOfClient(client.clientId);
  if (organizationId !== undefined && !(await mayActFor(store.current, client.clientId, userId))) {
    const memberships = await findMemberships(store.current, userId, [organizationId]);
    if (!memberships.has(organizationId)) throw new errors.AccessDenied("the user is not a member of the organization");
    return undefined;
  }
  const grounds = { type: "session", sessionId: browserSessionId } as const;
  const sessionId =
    deviceCode !== undefined
      ? await sessions.begin({ userId, grounds, ...signInOf(deviceCode.deviceInfo) })
      : organizationId !== undefined
        ? await clientSessionOf(ctx, parts, { userId, grounds, organizationId })
        : browserSessionId;
  if (sessionId === undefined) throw new errors.AccessDenied("the session of this browser has ended in the meantime");
  const grantId = grantIdOf({ userId, sessionId, clientId: client.clientId });
  const existing = deviceCode === undefined ? await provider.Grant.find(grantId) : undefined;
  if (existing !== undefined) return existing;
  const named = { jti: grantId, accountId: userId, clientId: client.clientId };
  const grant = new provider.Grant(named);
  grant.addOIDCScope(scopes);
  await grant.save();
  return grant;
}

/** Returns the session that this browser has with the client, or a new one. A person who signed in just now always gets a new one. */
async function clientSessionOf(
  ctx: KoaContextWithOIDC,
  { sessions }: Pick<Parts, "sessions">,
  { userId, grounds, organizationId }: Pick<NewSession, "userId" | "grounds"> & { readonly organizationId: string },
): Promise<string | undefined> {
  const { session, client, result } = ctx.oidc;
  const { clientId = "", clientName = clientId } = client ?? {};
  const known = result?.login === undefined ? session?.sidFor(clientId) : undefined;
  if (known !== undefined && (await sessions.use({ userId, sessionId: known })) !== undefined) return known;
  const begun = await sessions.begin({
    userId,
    grounds,
    signedInBy: "application",
    client: { organizationId, clientId, name: clientName },
    userAgent: ctx.get("user-agent"),
    address: ctx.ip,
  });
  if (begun !== undefined) session?.sidFor(clientId, begun);
  return begun;
}

function signInOf(deviceInfo: Readonly<Record<string, unknown>> | undefined) {
  const { address = "", userAgent = "" } = deviceInfo ?? {};
  return { signedInBy: "device", address: String(address), userAgent: String(userAgent) };
}

function signInPolicy({ interactionPolicy }: Pick<Parts, "interactionPolicy">): interactionPolicy.DefaultPolicy {
  const { base, Check } = interactionPolicy;
  const policy = base();
  // The prompt `consent` shows no page for the service's own clients. But it is accepted, because clients send `prompt=consent`: other providers
  // give a refresh token only for this prompt.
  const consent = policy.get("consent");
  consent?.checks.clear();
  const isNew = new Check("not_agreed", "the user has not agreed to this client", "consent_required", ({ oidc }) => {
    const isOfOrganization = organizationOfClient(oidc.client?.clientId ?? "") !== undefined;
    return isOfOrganization && (oidc.grant?.jti === undefined || oidc.promptPending("consent"));
  });
  consent?.checks.add(isNew);
  const isOver = new Check("session_over", "the session of this browser is over", "login_required", (ctx) => {
    return ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined;
  });
  policy.get("login")?.checks.add(isOver);
  return policy;
}
