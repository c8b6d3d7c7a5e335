import type { KoaContextWithOIDC } from "oidc-provider";
import { type Page, pageHeaders, renderPage } from "../pages/page.ts";

/** The settings that all pages of the sign-in share. */
export interface Look {
  readonly isSecure: () => boolean;
  readonly homeUrl: () => string;
  /** The origins to which a sign-in or a sign-out may lead back. */
  readonly formTargets: () => readonly string[];
}

export function showPage(ctx: KoaContextWithOIDC, look: Look, page: Page): void {
  ctx.status = page.status ?? 200;
  const formTargets = [...new Set([...look.formTargets(), ...(page.formTargets ?? [])])];
  ctx.set(pageHeaders({ formTargets }));
  ctx.body = renderPage(page);
}
