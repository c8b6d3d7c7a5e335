import type { KoaContextWithOIDC, Provider } from "oidc-provider";

/** A sign-in that a browser has begun: for which client, and what that asked for. */
export type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** The one of this browser's cookie. Undefined when it has none (any more), or it is another one. */
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

/** Answers the client's origin, to which the forms of the sign-in's pages lead on. The provider has checked the address against those of the client. */
export function formTargetsOf({ params }: Interaction): { readonly formTargets?: readonly string[] } {
  return typeof params.redirect_uri === "string" ? { formTargets: [new URL(params.redirect_uri).origin] } : {};
}

/** Its page, as a path. All that its cookies come with is below it. */
export function signInPath(publicUrl: string, uid: string): string {
  return `${new URL(publicUrl).pathname.replace(/\/+$/, "")}/oidc/sign-in/${uid}`;
}

export function goTo(ctx: KoaContextWithOIDC, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
  // Koa would write the address into the body as well.
  ctx.status = 303;
  ctx.body = "";
}
