import { randomBytes, randomUUID } from "node:crypto";
import { ownTemporaryDirectory } from "./owned.ts";
import { type DatabaseServer, externalServer, startPostgresServer } from "./postgres-process.ts";

export const storeKinds = ["embedded", "postgres"] as const;
export type StoreKind = (typeof storeKinds)[number];

/** One empty store, and the settings with which a service uses it. */
export interface StoreHome {
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  discard(): Promise<void>;
}

/** The source of fresh stores: a temporary directory for each, or a database for each on one PostgreSQL server. */
export interface StoreHomes {
  readonly kind: StoreKind;
  fresh(): Promise<StoreHome>;
  close(): Promise<void>;
}

/** Uses for "postgres" the server that the environment names, or starts a server if the environment names none. */
export async function openStoreHomes(kind: StoreKind): Promise<StoreHomes> {
  if (kind === "embedded") return { kind, fresh: freshDirectory, close: async () => {} };
  const url = process.env.STEPWELL_BENCH_DATABASE_URL ?? process.env.DATABASE_URL;
  const server = url ? externalServer(url) : await startPostgresServer();
  return { kind, fresh: () => freshDatabase(server), close: () => server.stop() };
}

async function freshDirectory(): Promise<StoreHome> {
  const directory = ownTemporaryDirectory("data");
  return {
    dataDir: directory.path,
    environment: { STEPWELL_DATA_DIR: directory.path },
    discard: async () => directory.remove(),
  };
}

/** The secret key of this run. All nodes on one database need the same key. */
const secretKey = randomBytes(32).toString("base64");

/** Makes a store in a new database. Its directory only holds `dev.json` and the log. */
export async function freshDatabase(server: DatabaseServer): Promise<StoreHome> {
  const directory = await freshDirectory();
  const name = `stepwell_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const url = await server.createDatabase(name);
  return {
    dataDir: directory.dataDir,
    environment: { ...directory.environment, DATABASE_URL: url, STEPWELL_SECRET_KEY: secretKey },
    discard: async () => {
      await directory.discard();
      await server.dropDatabase(name);
    },
  };
}
