import type { Middleware } from "../../auth/oidc/provider-parts.ts";

/** The endpoints of the provider that have a guard of ours before them. */
export const guarded = {
  authorization: "/auth",
  deviceAuthorization: "/device/auth",
  deviceCodePage: "/device",
  endSession: "/session/end",
  token: "/token",
} as const;

const paths: ReadonlySet<string> = new Set(Object.values(guarded));

/** Allows one spelling of each endpoint. The provider's router takes `/Token/` for `/token`, and the guard before that would not recognize it. */
export const oneSpelling: Middleware = async (ctx, next) => {
  const meant = ctx.path.toLowerCase().replace(/\/$/, "");
  // Another spelling of a guarded endpoint gets no answer here, and so the 404 of an unknown path.
  if (ctx.path === meant || !paths.has(meant)) await next();
};
