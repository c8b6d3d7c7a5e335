import type { Middleware } from "../../auth/oidc/provider-parts.ts";

/** The endpoints of the provider that have a guard of this service before them. */
export const guarded = {
  authorization: "/auth",
  deviceAuthorization: "/device/auth",
  deviceCodePage: "/device",
  endSession: "/session/end",
  token: "/token",
} as const;

const paths: ReadonlySet<string> = new Set(Object.values(guarded));

/** Allows only one spelling of each guarded endpoint. The provider's router treats `/Token/` as `/token`, but a guard recognizes only `/token`. */
export const oneSpelling: Middleware = async (ctx, next) => {
  const meant = ctx.path.toLowerCase().replace(/\/$/, "");
  // For another spelling of a guarded endpoint no handler runs, so it gets the 404 of an unknown path.
  if (ctx.path === meant || !paths.has(meant)) await next();
};
