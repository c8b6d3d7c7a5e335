import { findFreePort } from "@stepwell/testing/free-port.ts";
import { ownTemporaryDirectory } from "@stepwell/testing/processes/owned.ts";
import { type DevFile, type ServiceOptions, ServiceProcess } from "@stepwell/testing/processes/service-process.ts";
import type { StoreHome } from "@stepwell/testing/processes/store-home.ts";

export interface Node {
  readonly options: ServiceOptions;
  service: ServiceProcess;
}

type NodeOptions = Pick<ServiceOptions, "program" | "environment">;

/** Starts three nodes and waits until they are ready. The first of them seeds the database. */
export async function startThreeNodes(
  home: StoreHome,
  options: NodeOptions,
): Promise<{ readonly nodes: readonly [Node, Node, Node]; readonly devFile: DevFile }> {
  const first = await startNode({ home, port: await findFreePort(), ...options });
  const devFile = await first.service.seeded();
  return { nodes: [first, await startNeighbour(home, options), await startNeighbour(home, options)], devFile };
}

export async function startNode(options: ServiceOptions): Promise<Node> {
  const service = new ServiceProcess(options);
  await service.ready();
  return { options, service };
}

async function startNeighbour(home: StoreHome, options: NodeOptions): Promise<Node> {
  const { path } = ownTemporaryDirectory("node");
  const ofNode = { ...home, dataDir: path, environment: { ...home.environment, STEPWELL_DATA_DIR: path } };
  return await startNode({ home: ofNode, port: await findFreePort(), command: "serve", ...options });
}
