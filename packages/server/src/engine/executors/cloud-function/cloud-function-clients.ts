import type { InvokeCommandInput, InvokeCommandOutput, LambdaClient, LambdaClientConfig } from "@aws-sdk/client-lambda";
import { boundAnswers } from "./cloud-function-answer-bound.ts";
import { type AwsCredentials, roleCredentials } from "./cloud-function-role.ts";

/** The address and the identity with which Lambda is called. Calls that agree in all fields share a client. */
export interface LambdaAccess {
  readonly region: string;
  readonly endpoint: string | undefined;
  readonly identity: Identity;
}

/**
 * - `service`: the service's own credentials, found by the SDK's standard chain.
 * - `role`: a role that the service assumes, with the organization as the external id, which the role's owner can require. Because the organization
 *   is part of the identity, two organizations never share a client.
 * - `placeholder`: made-up credentials for emulators. LocalStack reads the account from them.
 */
export type Identity =
  | { readonly type: "service" }
  | { readonly type: "role"; readonly roleArn: string; readonly organizationId: string }
  | { readonly type: "placeholder"; readonly accountId: string };

export interface ClientLimits {
  readonly maxAnswerBytes: number;
  /** The largest number of clients. Each takes about 35 KB and its idle sockets. */
  readonly maxClients?: number;
}

export interface InvokeOptions {
  readonly abortSignal: AbortSignal;
  readonly requestTimeout: number;
}

/**
 * The clients in use, and the most recently used clients, which keep their sockets and credentials. The SDK takes about 25 MB and 60 ms to load. It
 * is loaded with the first call, so a service that calls no function does not pay for it.
 */
export class LambdaClients {
  readonly #limits: Required<ClientLimits>;
  /** The clients by access, the least recently used one first. */
  readonly #clients = new Map<string, CachedClient>();

  constructor(limits: ClientLimits) {
    this.#limits = { maxClients: 200, ...limits };
  }

  async invoke(access: LambdaAccess, input: InvokeCommandInput, options: InvokeOptions): Promise<InvokeCommandOutput> {
    const sdk = await import("@aws-sdk/client-lambda");
    const cached = this.#take(access, (config) => new sdk.LambdaClient(config));
    try {
      return await cached.client.send(new sdk.InvokeCommand(input), options);
    } finally {
      cached.callCount--;
      destroyIfDone(cached);
    }
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Destroys the clients, which cuts off their calls that are still under way. */
  close(): void {
    for (const { client } of this.#clients.values()) client.destroy();
    this.#clients.clear();
  }

  #take(access: LambdaAccess, makeClient: (config: LambdaClientConfig) => LambdaClient): CachedClient {
    const key = JSON.stringify(access);
    const cached = this.#clients.get(key) ?? this.#newClient(access, makeClient);
    this.#clients.delete(key);
    this.#clients.set(key, cached);
    cached.callCount++;
    this.#evict();
    return cached;
  }

  #newClient(access: LambdaAccess, makeClient: (config: LambdaClientConfig) => LambdaClient): CachedClient {
    const client = makeClient(clientConfig(access));
    boundAnswers(client, this.#limits.maxAnswerBytes);
    return { client, callCount: 0, isEvicted: false };
  }

  #evict(): void {
    for (const [key, cached] of this.#clients) {
      if (this.#clients.size <= this.#limits.maxClients) return;
      this.#clients.delete(key);
      cached.isEvicted = true;
      destroyIfDone(cached);
    }
  }
}

interface CachedClient {
  readonly client: LambdaClient;
  callCount: number;
  isEvicted: boolean;
}

/** Destroys an evicted client after its last call has ended: destroying a client also cuts off the sockets in use. */
function destroyIfDone({ client, callCount, isEvicted }: CachedClient): void {
  if (isEvicted && callCount === 0) client.destroy();
}

function clientConfig({ region, endpoint, identity }: LambdaAccess): LambdaClientConfig {
  // The dispatcher bounds the calls under way. The SDK's own bound of 50 would make a hidden queue, in which a call's time could run out.
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  const credentials = credentialsOf(identity, region);
  return {
    region,
    // The engine retries, according to the step's own policy.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
  };
}

const connectionTimeoutMs = 5_000;

/** Finds the credentials for an identity. Undefined leaves the choice to the SDK's standard chain. */
function credentialsOf(identity: Identity, region: string): LambdaClientConfig["credentials"] {
  switch (identity.type) {
    case "service":
      return undefined;
    case "role":
      return () => roleCredentials(identity, region);
    case "placeholder":
      return placeholder(identity.accountId);
    default:
      return identity satisfies never;
  }
}

function placeholder(accountId: string): AwsCredentials {
  return { accessKeyId: accountId, secretAccessKey: "placeholder" };
}
