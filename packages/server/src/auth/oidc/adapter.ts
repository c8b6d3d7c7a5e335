import { createHmac } from "node:crypto";
import type { Adapter, AdapterFactory, AdapterPayload, errors } from "oidc-provider";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import { type Queryable, StoreUnavailableError, TransactionAbortedError } from "../../store/home/database.ts";
import {
  consumeOidcRecord,
  deleteOidcRecord,
  deleteOidcRecordsOfGrant,
  type FoundOidcRecord,
  findOidcRecord,
  findOidcRecordByUid,
  findOidcRecordByUserCode,
  saveOidcRecord,
} from "../../store/people/oidc-records.ts";
import { hashName } from "./grant-id.ts";
import { findOrganizationClient, metadataOf } from "./organization-clients.ts";
import type { ScopedStore } from "./scoped-store.ts";

export interface AdapterParts {
  readonly store: ScopedStore;
  readonly secrets: SecretBox;
  /** The database's time. */
  readonly now: () => Timestamp;
  /** The provider's own error classes, passed in because the provider is loaded on first use only. */
  readonly errors: typeof errors;
}

/** Keeps the provider's state in the store that all nodes share. Records are named by hashes and sealed. */
export function adapterOver(parts: AdapterParts): AdapterFactory {
  return (kind) => (kind === "Client" ? new ClientAdapter(kind, parts) : new StoreAdapter(kind, parts));
}

class StoreAdapter implements Adapter {
  readonly #kind: string;
  readonly #parts: AdapterParts;

  constructor(kind: string, parts: AdapterParts) {
    this.#kind = kind;
    this.#parts = parts;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const { secrets, now } = this.#parts;
    const recordHash = hashName(id);
    const grantId = this.#kind === "Grant" ? id : issuedKinds.has(this.#kind) ? payload.grantId : undefined;
    const record = {
      kind: this.#kind,
      recordHash,
      grantHash: grantId === undefined ? null : hashName(grantId),
      uidHash: payload.uid === undefined ? null : hashName(payload.uid),
      userCodeHash:
        payload.userCode === undefined ? null : hashUserCode(secrets.keyFor(userCodePurpose), payload.userCode),
      payload: secrets.seal(purpose, this.#contextOf(recordHash), JSON.stringify(payload)),
      expiresAt: expiresIn === undefined ? null : now() + expiresIn * 1_000,
    };
    await this.ask((db) => saveOidcRecord(db, record));
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#open(await this.ask((db) => findOidcRecord(db, this.#kind, hashName(id))));
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#open(await this.ask((db) => findOidcRecordByUid(db, this.#kind, hashName(uid))));
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    for (const key of this.#parts.secrets.keysFor(userCodePurpose)) {
      const hashed = hashUserCode(key, userCode);
      const found = await this.ask((db) => findOidcRecordByUserCode(db, this.#kind, hashed));
      if (found !== undefined) return this.#open(found);
    }
    return undefined;
  }

  /**
   * The provider has already checked whether the record was consumed. If several requests checked at the same time, only one of them gets through
   * here.
   */
  async consume(id: string): Promise<void> {
    const isFirst = await this.ask((db) => consumeOidcRecord(db, this.#kind, hashName(id), this.#parts.now()));
    if (!isFirst)
      throw new this.#parts.errors.InvalidGrant(`${this.#kind} was used by another request at the same time`);
  }

  async destroy(id: string): Promise<void> {
    await this.ask((db) => deleteOidcRecord(db, this.#kind, hashName(id)));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.ask((db) => deleteOidcRecordsOfGrant(db, this.#kind, hashName(grantId)));
  }

  #open(found: FoundOidcRecord | undefined): AdapterPayload | undefined {
    if (found === undefined) return undefined;
    const plain = this.#parts.secrets.open(purpose, this.#contextOf(found.recordHash), found.payload);
    const payload: AdapterPayload = JSON.parse(plain.toString("utf8"));
    if (found.consumedAt !== null) payload.consumed = Math.floor(found.consumedAt / 1_000);
    return payload;
  }

  #contextOf(recordHash: Buffer): string {
    return `${this.#kind} ${recordHash.toString("hex")}`;
  }

  protected async ask<Result>(work: (db: Queryable) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#parts.store.current);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError || error instanceof TransactionAbortedError)) throw error;
      const away = new this.#parts.errors.TemporarilyUnavailable("the store is out of reach; try again in a moment");
      throw Object.assign(away, { status: 503, statusCode: 503, expose: true, cause: error });
    }
  }
}

/**
 * Finds the OAuth clients of organizations. The provider looks here for every client that is not one of the service's own. It looks each time, so
 * that a deleted client is gone at once.
 */
class ClientAdapter extends StoreAdapter {
  override async find(id: string): Promise<AdapterPayload | undefined> {
    const client = await this.ask((db) => findOrganizationClient(db, id));
    return client && metadataOf(client);
  }
}

/** The hash uses a key, because the codes that people type are so short that they could be guessed from a plain hash. */
function hashUserCode(key: Buffer, userCode: string): Buffer {
  return createHmac("sha256", key).update(userCode).digest();
}

const purpose = "oidc-record";
const userCodePurpose = "user-code";
/**
 * The kinds of records that end with their grant. The record of a sign-in under way is not one of them, although it names a grant: that grant belongs
 * to a session that began before, and the record must outlive that session.
 */
const issuedKinds: ReadonlySet<string> = new Set(["AccessToken", "AuthorizationCode", "RefreshToken", "DeviceCode"]);
