import type { KoaContextWithOIDC, Provider } from "oidc-provider";

/** A sign-in that a browser has begun, with the client and its request. */
export type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** Returns the interaction that this browser's cookie names. Returns undefined when it does not exist (any more), or when its id is not `uid`. */
export async function interactionOf(
  provider: Provider,
  ctx: KoaContextWithOIDC,
  uid: string,
): Promise<Interaction | undefined> {
  const found = await provider.interactionDetails(ctx.req, ctx.res).catch((error: unknown) => {
    if (error instanceof Error && error.name === "SessionNotFound") return undefined;
    throw error;
  });
  return found?.uid === uid ? found : undefined;
}

/** Returns the origin of the redirect address, to which forms of the sign-in may lead. The provider has checked that the address is the client's. */
export function formTargetsOf({ params }: Interaction): { readonly formTargets?: readonly string[] } {
  return typeof params.redirect_uri === "string" ? { formTargets: [new URL(params.redirect_uri).origin] } : {};
}

/** Returns the path of the sign-in's page. Every path that gets the cookies of the sign-in is below it. */
export function signInPath(publicUrl: string, uid: string): string {
  return `${new URL(publicUrl).pathname.replace(/\/+$/, "")}/oidc/sign-in/${uid}`;
}

export function goTo(ctx: KoaContextWithOIDC, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
  // Koa's redirect has written the address into the body, too, so the body is emptied.
  ctx.status = 303;
  ctx.body = "";
}
