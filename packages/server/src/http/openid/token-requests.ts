import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { letClientRead } from "../../auth/oidc/client-origins.ts";
import { deviceGrantType } from "../../auth/oidc/clients.ts";
import type { Middleware } from "../../auth/oidc/provider-parts.ts";
import type { RefreshLedger } from "../../auth/oidc/refresh-ledger.ts";
import { DevicePace, pollSeconds } from "./device-pace.ts";
import { guarded } from "./guarded-endpoints.ts";
import type { Look } from "./look.ts";
import { readBody, withBody } from "./request-body.ts";

/** A request has a token, a code and some names, which need far less. */
const maxBodyBytes = 16 * 1024;

/** Guards the token endpoint: refresh tokens go through the ledger, and devices that ask too often are told to wait. */
export function tokenRequests(provider: Provider, ledger: RefreshLedger, look: Look): Middleware {
  const pace = new DevicePace();
  const letPageRead = async (ctx: KoaContextWithOIDC, clientId: string | undefined) =>
    await letClientRead(ctx, async () => await provider.Client.find(clientId ?? ""), look.formTargets());
  return async (ctx, next) => {
    if (ctx.method !== "POST") return await next();
    if (ctx.path === guarded.deviceAuthorization) {
      await next();
      if (ctx.status === 200) Object.assign(ctx.body as object, { interval: pollSeconds });
      return;
    }
    if (ctx.path !== guarded.token) return await next();
    const form = await formOf(ctx);
    // The body names the client. As long as the client is unknown, no page may read the answer.
    if (form === undefined)
      return sendError(ctx, 413, "invalid_request", "the body is larger than this endpoint accepts");
    const clientId = only(form, "client_id");
    const grantType = only(form, "grant_type");
    const deviceCode = only(form, "device_code");
    if (grantType === deviceGrantType && deviceCode !== undefined && pace.isTooFast(deviceCode)) {
      await letPageRead(ctx, clientId);
      return sendError(ctx, 400, "slow_down", `ask every ${pollSeconds} seconds`);
    }
    const token = only(form, "refresh_token");
    if (grantType !== "refresh_token" || token === undefined || clientId === undefined) return await next();
    const { status, body } = await ledger.exchange({ token, clientId }, async () => {
      await next();
      return { status: ctx.status, body: ctx.body };
    });
    ctx.status = status;
    ctx.body = body;
    await letPageRead(ctx, clientId);
  };
}

/** Reads the body and puts it back, since the provider reads it itself. */
async function formOf(ctx: KoaContextWithOIDC): Promise<URLSearchParams | undefined> {
  if (!ctx.is("application/x-www-form-urlencoded")) return new URLSearchParams();
  const body = await readBody(ctx.req, maxBodyBytes);
  if (body === undefined) return undefined;
  const again = withBody(ctx.req, body);
  ctx.req = again;
  ctx.request.req = again;
  ctx.response.req = again;
  return new URLSearchParams(body.toString("utf8"));
}

/** Returns the value of a parameter that is sent exactly once; otherwise undefined. The provider rejects a parameter that is sent twice. */
function only(form: URLSearchParams, name: string): string | undefined {
  const values = form.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function sendError(ctx: KoaContextWithOIDC, status: number, error: string, description: string): void {
  ctx.status = status;
  if (status === 413) ctx.set("connection", "close");
  ctx.body = { error, error_description: description };
}
