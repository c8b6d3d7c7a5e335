import { findFreePort } from "@stepwell/testing/free-port.ts";
import { Api } from "@stepwell/testing/processes/api.ts";
import { ServiceProcess } from "@stepwell/testing/processes/service-process.ts";
import type { StoreHome } from "@stepwell/testing/processes/store-home.ts";
import { RequestWriter } from "../requests.ts";

/** A running service under test, and the data that a program needs to call it. */
export interface Target {
  readonly service: ServiceProcess;
  readonly port: number;
  readonly organizationId: string;
  /** The token of the seeded user. */
  readonly token: string;
  /** The password of the seeded user. */
  readonly password: string;
  /** The sample job, which waits for an event. */
  readonly jobId: string;
  readonly api: Api;
  /** Writes requests as a program sends them, with an API token of its own. */
  readonly requests: RequestWriter;
}

/** `program` is the command line of another build. Default: the command line of this build. */
export async function startTarget(home: StoreHome, program?: readonly string[]): Promise<Target> {
  const port = await findFreePort();
  const service = new ServiceProcess({ home, port, program });
  const { organizationId, token, password, jobId } = await service.seeded();
  const api = new Api(port, token);
  const ofProgram = await api.post<{ token: string }>(`/organizations/${organizationId}/api-tokens`, {
    name: "load",
    permissions: ["job:submit", "job:read", "job:event:send"],
  });
  const requests = new RequestWriter(port, ofProgram.token);
  return { service, port, organizationId, token, password, jobId, api, requests };
}
