import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { createToken } from "../../server/src/auth/credentials/token-form.ts";
import { readConfig } from "../../server/src/config.ts";
import {
  type MaximumChanges,
  updateOrganizationLimits,
} from "../../server/src/management/maximums/organization-limits.ts";
import { SecretBox } from "../../server/src/sealing/secret-box.ts";
import { type RunningService, startService } from "../../server/src/service.ts";
import { insertMember } from "../../server/src/store/access/members.ts";
import { insertUserToken } from "../../server/src/store/people/user-tokens.ts";
import { insertUser } from "../../server/src/store/people/users.ts";
import { Client } from "./client.ts";
import { scope } from "./scope.ts";
import type { PreparedStore, StoreHome } from "./stores.ts";

export interface TestUser {
  readonly userId: string;
  readonly token: string;
  readonly tokenId: string;
  readonly client: Client;
}

export interface TestMember extends TestUser {
  /** The member's client, bound to the organization. */
  readonly api: Client;
}

export interface TestOrganization {
  readonly organizationId: string;
  readonly owner: TestUser;
  /** The owner's client, bound to this organization. */
  readonly api: Client;
}

/** The secret key of all services of the tests, so that several can share a store. */
export const testSecretKey = randomBytes(32).toString("base64");

export function testSecrets(): SecretBox {
  return new SecretBox(Buffer.from(testSecretKey, "base64"));
}

/**
 * A service has fewer connections than by default, because for each of them PostgreSQL starts a process, which plans every statement again. The whole
 * matrix has the default.
 */
const fewConnections = 6;

/** A whole service in this process, on a store of its own. */
export class TestService {
  readonly #home: StoreHome;
  readonly #settings: Record<string, string>;
  #prepared: PreparedStore | undefined;
  #running: RunningService | undefined;

  constructor(home: StoreHome, settings: Record<string, string> = {}) {
    this.#home = home;
    this.#settings = settings;
  }

  async start(): Promise<void> {
    this.#prepared = await this.#home.prepare();
    const environment = {
      STEPWELL_PORT: "0",
      STEPWELL_METRICS_PORT: "0",
      STEPWELL_LOG_LEVEL: "error",
      STEPWELL_SECRET_KEY: testSecretKey,
      STEPWELL_DRAIN_SECONDS: "1",
      ...(scope !== "all" && { STEPWELL_DATABASE_POOL_SIZE: String(fewConnections) }),
      ...this.#prepared.environment,
      ...this.#settings,
    };
    this.#running = await startService(readConfig(environment));
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    await this.#prepared?.remove();
  }

  get running(): RunningService {
    if (this.#running === undefined) throw new Error("The service is not started.");
    return this.#running;
  }

  get baseUrl(): string {
    return this.running.baseUrl;
  }

  get port(): number {
    return this.running.port;
  }

  client(token: string | undefined, bound: Record<string, string> = {}): Client {
    return new Client(this.baseUrl, token, bound);
  }

  async newUser(expiresAt: number | null = null): Promise<TestUser> {
    const { database, engine } = this.running;
    const userId = engine.newId();
    const createdAt = engine.now();
    await insertUser(database, { userId, email: `${userId}@example.org`, displayName: "A user", createdAt });
    const { token, tokenId } = await this.newUserToken(userId, expiresAt);
    return { userId, token, tokenId, client: this.client(token) };
  }

  /** Writes a user token directly into the store, without checking a password. */
  async newUserToken(userId: string, expiresAt: number | null = null): Promise<{ tokenId: string; token: string }> {
    const { database, engine } = this.running;
    const [tokenId, createdAt] = [engine.newId(), engine.now()];
    const { token, tokenHash, tokenPrefix } = createToken("user", userId);
    await insertUserToken(database, { userId, tokenId, name: "test", tokenPrefix, createdAt, expiresAt }, tokenHash);
    return { tokenId, token };
  }

  /** A user who is a member of the organization, with these roles. */
  async newMember({ organizationId }: TestOrganization, roles: readonly string[]): Promise<TestMember> {
    const user = await this.newUser();
    await this.addMember(organizationId, user.userId, roles);
    return { ...user, api: user.client.bind({ organizationId }) };
  }

  /** Writes a member directly into the store, without checking permissions. */
  async addMember(organizationId: string, userId: string, roles: readonly string[]): Promise<void> {
    const { database, engine } = this.running;
    const member = { organizationId, userId, roles, createdAt: engine.now() };
    await database.transaction((transaction) => insertMember(transaction, member));
  }

  /** Sets maximums of one organization, as the operator does. */
  async setMaximums(organizationId: string, maximums: MaximumChanges): Promise<void> {
    const actor = { type: "service", id: "the operator" } as const;
    const act = { actor, operation: "UpdateOrganizationLimits", requestId: "", address: "" };
    await updateOrganizationLimits(this.running.database, act, organizationId, { maximums });
  }

  /** Creates an organization; each test has one of its own, so that tests do not see each other. */
  async newOrganization(owner?: TestUser): Promise<TestOrganization> {
    const user = owner ?? (await this.newUser());
    const name = `organization ${randomUUID()}`;
    const { body } = await user.client.call<{ organizationId: string }>("CreateOrganization", {
      body: { name, displayName: name },
    });
    const { organizationId } = body;
    return { organizationId, owner: user, api: this.client(user.token, { organizationId }) };
  }
}

/** Starts a service before the tests of the surrounding block and stops it after them. */
export function useService(home: StoreHome, settings: Record<string, string> = {}): TestService {
  const service = new TestService(home, settings);
  beforeAll(() => service.start(), 60_000);
  afterAll(() => service.stop(), 60_000);
  return service;
}
