import type { Config } from "../config.ts";
import type { ServerFacts } from "../store/home/server-facts.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/**
 * Judges the settings of the database, embedded or a server: whether it keeps what it acknowledged. For a server, it also judges whether there are
 * enough connections for the nodes.
 */
export function judgeServer(facts: ServerFacts, config: Pick<Config, "databaseUrl" | "databasePoolSize">): Finding[] {
  const findings = [...judgeDurability(facts), judgeReplication(facts)];
  return config.databaseUrl === undefined ? findings : [...findings, judgeConnections(facts, config.databasePoolSize)];
}

function judgeDurability({ fsync, fullPageWrites, synchronousCommit }: ServerFacts): Finding[] {
  const found: Finding[] = [];
  if (fsync !== "on") {
    found.push(problem("durability", "fsync is off: a crash of the machine can destroy the database. Set fsync = on."));
  }
  if (fullPageWrites !== "on") {
    found.push(
      problem(
        "durability",
        "full_page_writes is off: a crash in the middle of a write can destroy a page. Set full_page_writes = on, unless the file system prevents torn pages.",
      ),
    );
  }
  if (synchronousCommit === "off") {
    found.push(
      problem(
        "durability",
        "synchronous_commit is off: a crash can lose jobs that were already acknowledged. Set synchronous_commit = on, for the server, the database and the role.",
      ),
    );
  }
  if (found.length > 0) return found;
  return [ok("durability", `fsync and full_page_writes are on, synchronous_commit is ${synchronousCommit}.`)];
}

function judgeReplication({ synchronousStandbyNames, synchronousCommit, standbyCount }: ServerFacts): Finding {
  const waits = synchronousStandbyNames !== "" && synchronousCommit !== "local" && synchronousCommit !== "off";
  if (waits)
    return ok("replication", `Commits wait for a standby (synchronous_standby_names = ${synchronousStandbyNames}).`);
  if (synchronousStandbyNames !== "") {
    return warning(
      "replication",
      `synchronous_commit is ${synchronousCommit}: commits do not wait for the standby, and a failover can lose the last ones. Set synchronous_commit = on.`,
    );
  }
  if (standbyCount > 0) {
    return warning(
      "replication",
      `Standby servers that follow: ${standbyCount}. synchronous_standby_names is empty: a failover can lose the last acknowledged commits. Set synchronous_standby_names.`,
    );
  }
  return ok("replication", "No standby follows this server.");
}

function judgeConnections({ maxConnections }: ServerFacts, poolSize: number): Finding {
  const nodes = Math.floor(maxConnections / poolSize);
  const room = `The database role may open ${maxConnections} connections, and each node takes ${poolSize} (STEPWELL_DATABASE_POOL_SIZE)`;
  const advice =
    "Raise max_connections or the connection limit of the role or database, or lower STEPWELL_DATABASE_POOL_SIZE.";
  if (nodes < 1) return problem("connections", `${room}: not enough for one node. ${advice}`);
  // In a rolling restart, a new node starts before the old one has stopped.
  if (nodes < 2) return warning("connections", `${room}: not enough for a second node. ${advice}`);
  return ok("connections", `${room}: enough for ${nodes} nodes.`);
}
