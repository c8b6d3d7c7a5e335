import { Api, registerWorkflow } from "@stepwell/testing/processes/api.ts";
import type { DevFile } from "@stepwell/testing/processes/service-process.ts";
import { RequestWriter } from "../bench/requests.ts";
import type { Workflow } from "./population.ts";
import { definitionOfShape, type WorkflowShape } from "./workflows.ts";

/** Where a campaign plays: two organizations with the same workflows each. */
export interface Scene {
  readonly requests: RequestWriter;
  readonly token: string;
  readonly organizationIds: readonly string[];
  readonly workflows: readonly Workflow[];
  /** By the workflow's id. Jobs of other workflows are none of ours. */
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
  for (const organizationId of organizationIds) {
    for (const shape of shapes) {
      const workflowId = await registerWorkflow(api, organizationId, definitionOfShape(shape));
      workflows.push({ organizationId, workflowId, shape });
    }
  }
  return {
    requests: new RequestWriter(port, token),
    token,
    organizationIds,
    workflows,
    shapes: new Map(workflows.map(({ workflowId, shape }) => [workflowId, shape])),
  };
}
