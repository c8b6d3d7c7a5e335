import { Client } from "@stepwell/testing/client.ts";
import { newDatabase, type OwnDatabase } from "@stepwell/testing/postgres/own-database.ts";
import { TestService, testSecretKey } from "@stepwell/testing/service.ts";
import { afterAll, beforeAll } from "vitest";
import { type FirstOrganization, type NodeProcess, startNodeProcess } from "./child-node.ts";

/** Nodes of one service, over one PostgreSQL database. */
export class Cluster {
  readonly #settings: Record<string, string>;
  readonly #nodes: TestService[] = [];
  #database: OwnDatabase | undefined;

  constructor(settings: Record<string, string>) {
    this.#settings = settings;
  }

  async start(nodeCount: number): Promise<void> {
    this.#database = await newDatabase("newest");
    await Promise.all(Array.from({ length: nodeCount }, () => this.addNode()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await this.#database?.remove();
  }

  get databaseUrl(): string {
    if (this.#database === undefined) throw new Error("The cluster is not started.");
    return this.#database.url;
  }

  /** Returns a node in this process, by its place in the order in which the nodes were added. */
  node(index: number): TestService {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`There is no node ${index}.`);
    return node;
  }

  /** Starts another node in this process. */
  async addNode(settings: Record<string, string> = {}): Promise<TestService> {
    const store = { environment: { DATABASE_URL: this.databaseUrl }, remove: async () => {} };
    const home = { name: "postgres", prepare: async () => store } as const;
    const node = new TestService(home, { ...this.#settings, ...settings });
    await node.start();
    this.#nodes.push(node);
    return node;
  }

  /** Stops a node in an orderly way, as SIGTERM does. */
  async stopNode(node: TestService): Promise<void> {
    this.#nodes.splice(this.#nodes.indexOf(node), 1);
    await node.stop();
  }

  /** Starts another node in a process of its own. It ends with its test. */
  async addProcess(settings: Record<string, string> = {}): Promise<NodeProcess> {
    return await startNodeProcess({
      DATABASE_URL: this.databaseUrl,
      STEPWELL_SECRET_KEY: testSecretKey,
      ...this.#settings,
      ...settings,
    });
  }
}

/** Starts this many nodes before the tests of the surrounding block, and stops all nodes after them. */
export function useCluster(nodeCount: number, settings: Record<string, string> = {}): Cluster {
  const cluster = new Cluster(settings);
  beforeAll(() => cluster.start(nodeCount), 60_000);
  afterAll(() => cluster.stop(), 60_000);
  return cluster;
}

/** Returns a client of the organization's owner that calls this node. */
export function byWayOf(node: TestService | NodeProcess, { organizationId, owner }: FirstOrganization): Client {
  const baseUrl = node instanceof TestService ? node.baseUrl : node.ready.baseUrl;
  return new Client(baseUrl, owner.token, { organizationId });
}

export function nodeIdOf(node: TestService | NodeProcess): string {
  return node instanceof TestService ? node.running.engine.nodeId : node.ready.nodeId;
}
