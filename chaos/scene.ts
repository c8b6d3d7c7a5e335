import { Api, registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { DevFile } from "@stepwell/testing/processes/service-process.ts";
import { RequestWriter } from "../bench/requests.ts";
import type { Workflow } from "./population.ts";
import { definitionOfShape, type WorkflowShape, workflowsOfChildren } from "./workflows.ts";

/** The scene of a campaign: two organizations, each with the same workflows. */
export interface Scene {
  readonly requests: RequestWriter;
  readonly token: string;
  readonly organizationIds: readonly string[];
  /** The workflows whose jobs clients submit. Some of their steps begin jobs of other workflows. */
  readonly workflows: readonly Workflow[];
  /** The shapes by the ids of their workflows. Jobs of other workflows do not belong to the campaign. */
  readonly shapes: ReadonlyMap<string, WorkflowShape>;
}

export async function setScene(
  port: number,
  { organizationId, token }: DevFile,
  shapes: readonly WorkflowShape[],
): Promise<Scene> {
  const api = new Api(port, token);
  const second = { name: "chaos-neighbour", displayName: "Chaos neighbour" };
  const neighbour = await api.post<{ organizationId: string }>("/organizations", second);
  const organizationIds = [organizationId, neighbour.organizationId];
  const workflows: Workflow[] = [];
  const ofChildren: Workflow[] = [];
  for (const organizationId of organizationIds) {
    const register = async (shape: WorkflowShape): Promise<Workflow> => {
      const workflowId = await registerWorkflow(api, organizationId, definitionOfShape(shape));
      return { organizationId, workflowId, shape };
    };
    for (const shape of workflowsOfChildren(shapes)) ofChildren.push(await register(shape));
    for (const shape of shapes) workflows.push(await register(shape));
  }
  return {
    requests: new RequestWriter(port, token),
    token,
    organizationIds,
    workflows,
    shapes: new Map([...workflows, ...ofChildren].map(({ workflowId, shape }) => [workflowId, shape])),
  };
}
