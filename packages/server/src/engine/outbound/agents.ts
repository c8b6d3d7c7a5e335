import type { Agent } from "undici";
import type { AddressRule } from "./address-rule.ts";
import { guardedConnector, type ResolveHost } from "./guarded-connector.ts";

/**
 * The connections of each organization. They stay open for its next call. Organizations never share a connection, so that nothing that one
 * organization sends can affect the answers to another one. The calls under way (`maxCalls`) bound the number of connections in use.
 *
 * The library `undici` takes about 25 MB. It is loaded with the first call, so a service that makes no calls does not pay for it.
 */
export class Agents {
  readonly #rule: AddressRule;
  readonly #resolve: ResolveHost | undefined;
  /** The agents by organization, the least recently used one first. */
  readonly #agents = new Map<string, Agent>();

  constructor(rule: AddressRule, resolve?: ResolveHost) {
    this.#rule = rule;
    this.#resolve = resolve;
  }

  async of(organizationId: string): Promise<Agent> {
    const undici = await import("undici");
    const agent = this.#agents.get(organizationId) ?? this.#newAgent(undici);
    this.#agents.delete(organizationId);
    this.#agents.set(organizationId, agent);
    this.#evict();
    return agent;
  }

  get size(): number {
    return this.#agents.size;
  }

  /** Cuts off the calls that are still under way. */
  close(): void {
    for (const agent of this.#agents.values()) void agent.destroy();
    this.#agents.clear();
  }

  #newAgent(undici: typeof import("undici")): Agent {
    return new undici.Agent({
      connect: guardedConnector(undici.buildConnector, this.#rule, this.#resolve),
      allowH2: false,
      maxHeaderSize: maxHeaderBytes,
      // No timeout is needed here, because the call's own signal bounds the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveMaxTimeout: maxIdleMs,
    });
  }

  #evict(): void {
    for (const [organizationId, agent] of this.#agents) {
      if (this.#agents.size <= maxAgents) return;
      this.#agents.delete(organizationId);
      // `close` lets the calls that are under way on this agent end first. It runs a little later, so that a caller that has just got the agent can
      // send its request.
      setImmediate(() => void agent.close());
    }
  }
}

const maxAgents = 200;
const maxHeaderBytes = 32 * 1024;
/** The longest time for which an idle connection is kept, whatever the other side offers. */
const maxIdleMs = 30_000;
