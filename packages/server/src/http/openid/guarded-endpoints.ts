import type { Middleware } from "../../auth/oidc/provider-parts.ts";

/** Those of the provider's endpoints that something of ours stands before. */
export const guarded = {
  authorization: "/auth",
  deviceAuthorization: "/device/auth",
  deviceCodePage: "/device",
  endSession: "/session/end",
  token: "/token",
} as const;

const paths: ReadonlySet<string> = new Set(Object.values(guarded));

/** The provider's router takes `/Token/` for `/token`, and what stands before it would not know it again. So there is one spelling of each. */
export const oneSpelling: Middleware = async (ctx, next) => {
  const meant = ctx.path.toLowerCase().replace(/\/$/, "");
  // Nothing answers: that is the 404 of a path that is not there.
  if (ctx.path === meant || !paths.has(meant)) await next();
};
