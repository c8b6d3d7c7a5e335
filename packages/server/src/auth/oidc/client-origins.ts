import type { Client, KoaContextWithOIDC } from "oidc-provider";
import type { Timestamp } from "../../core/time.ts";
import { hasOAuthOrigin } from "../../store/access/oauth-clients.ts";
import type { Database } from "../../store/home/database.ts";
import { BriefCache } from "../credentials/brief-cache.ts";
import { networkOf } from "../credentials/network.ts";
import { organizationOfClient } from "../credentials/token-form.ts";
import { MinuteCounts } from "../limits/minute-counts.ts";
import { originsOf } from "./clients.ts";
import type { Middleware } from "./provider-parts.ts";

/** After this time, every node knows that a client was created or deleted. */
const maxAgeMs = 1_000;
const maxRemembered = 10_000;
/** RFC 1035: no host name is longer than 253 characters. */
const maxOriginLength = "https://".length + 253 + ":65535".length;

export interface ClientOriginsOptions {
  readonly database: Database;
  readonly now: () => Timestamp;
  /** The look-ups of unknown origins that one network may cause in a minute; 0 means no limit. */
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
   * Tells whether a client of any organization is served at this origin. Nobody has shown a credential at this point, so each network (`networkOf`)
   * may cause only a bounded number of look-ups of unknown origins. Beyond that number, the node answers from memory.
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

  /** Forgets all origins, so that a change of a client takes effect at once on this node. */
  forgetAll(): void {
    this.#known.forgetWhere(() => true);
  }
}

/** The requests whose origin belongs to the client that sends them. */
const allowed = new WeakSet<object>();

/** Tells whether a page of this origin may send requests for this client. `ownOrigins` are the origins of the service's own clients. */
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
 * Sets the headers that let a page of the client read the answer. The provider sets them itself, but only if it writes the answer for this request.
 * `findClient` returns the client that the request names, and is called only if a page sent the request.
 */
export async function letClientRead(
  ctx: KoaContextWithOIDC,
  findClient: () => Promise<Client | undefined>,
  ownOrigins: readonly string[],
): Promise<void> {
  const origin = ctx.get("origin");
  // If the header is there, the operator has listed the origin, or the provider has written the answer after all.
  if (origin === "" || ctx.res.hasHeader(allowOrigin)) return;
  const client = await findClient();
  if (client === undefined || !allowClientOrigin(ctx, origin, client, ownOrigins)) return;
  ctx.set(allowOrigin, origin);
  ctx.set("access-control-expose-headers", "WWW-Authenticate");
}

/**
 * Lets only pages of known clients read the provider's answers. The provider itself allows every origin until it knows the client. It never knows the
 * client when it answers a browser's preflight request, or when an error occurs before it has found the client.
 */
export function onlyClientOrigins(
  isKnown: (origin: string, network: string) => boolean | Promise<boolean>,
  publicPaths: ReadonlySet<string>,
): Middleware {
  return async (ctx, next) => {
    const origin = ctx.get("origin");
    // The operator's own list of origins has been applied before.
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
