import type { Client, KoaContextWithOIDC } from "oidc-provider";
import type { Timestamp } from "../../core/job/job-state.ts";
import { hasOAuthOrigin } from "../../store/access/oauth-clients.ts";
import type { Database } from "../../store/home/database.ts";
import { BriefCache } from "../credentials/brief-cache.ts";
import { networkOf } from "../credentials/network.ts";
import { organizationOfClient } from "../credentials/token-form.ts";
import { MinuteCounts } from "../limits/minute-counts.ts";
import { originsOf } from "./clients.ts";
import type { Middleware } from "./provider-parts.ts";

/** A client that is deleted, or a new one, is known on every node after this long. */
const maxAgeMs = 1_000;
const maxRemembered = 10_000;
/** RFC 1035: no name of a host is longer than 253 characters. */
const maxOriginLength = "https://".length + 253 + ":65535".length;

export interface ClientOriginsOptions {
  readonly database: Database;
  readonly now: () => Timestamp;
  /** Look-ups of origins that no client has, for one network; 0: no limit. */
  readonly maxUnknownPerMinute: number;
}

/** The origins of the pages of all organizations' clients. */
export class ClientOrigins {
  readonly #database: Database;
  readonly #known = new BriefCache<boolean>(maxAgeMs, maxRemembered);
  readonly #unknown: MinuteCounts;

  constructor({ database, now, maxUnknownPerMinute }: ClientOriginsOptions) {
    this.#database = database;
    this.#unknown = new MinuteCounts(maxUnknownPerMinute, now);
  }

  /**
   * Whether a client of any organization is served at this origin. The question comes before any credential, so the network that asks (`networkOf`) causes
   * only so many look-ups in vain; beyond them it is answered by what this node remembers.
   */
  has(origin: string, network: string): boolean | Promise<boolean> {
    if (origin.length > maxOriginLength || !/^https?:\/\/[a-z0-9._-]+(:\d{1,5})?$/.test(origin)) return false;
    if (this.#unknown.isOver(network)) return this.#known.lastKnown(origin) ?? false;
    return this.#known.get(origin, async () => {
      const isKnown = await hasOAuthOrigin(this.#database, origin);
      if (!isKnown) this.#unknown.note(network);
      return isKnown;
    });
  }

  /** On the node that changed a client, the change holds at once. */
  forgetAll(): void {
    this.#known.forgetWhere(() => true);
  }
}

/** Requests whose origin is one of the client that makes them. */
const allowed = new WeakSet<object>();

/** Whether a page of this origin may ask for this client. `ownOrigins`: those of the service's own clients. */
export function allowClientOrigin(
  ctx: KoaContextWithOIDC,
  origin: string,
  client: Client,
  ownOrigins: readonly string[],
): boolean {
  const isOwn = organizationOfClient(client.clientId) === undefined;
  const isAllowed = (isOwn ? ownOrigins : originsOf(client.redirectUris ?? [])).includes(origin);
  if (isAllowed) allowed.add(ctx);
  return isAllowed;
}

/**
 * Lets only pages of known clients read what the provider answers. The provider itself allows every origin until it knows the client, which an error or a browser's
 * question beforehand never tells it.
 */
export function onlyClientOrigins(
  isKnown: (origin: string, network: string) => boolean | Promise<boolean>,
  publicPaths: ReadonlySet<string>,
): Middleware {
  return async (ctx, next) => {
    const origin = ctx.get("origin");
    // The operator's own list of origins stands before this.
    if (origin === "" || publicPaths.has(ctx.path) || ctx.res.hasHeader(allowOrigin)) return await next();
    try {
      await next();
    } finally {
      const isAllowed = ctx.method === "OPTIONS" ? await isKnown(origin, networkOf(ctx.ip)) : allowed.has(ctx);
      if (!isAllowed) {
        for (const name of Object.keys(ctx.response.headers)) if (name.startsWith("access-control-")) ctx.remove(name);
      }
    }
  };
}

const allowOrigin = "access-control-allow-origin";
