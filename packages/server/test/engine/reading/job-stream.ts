import type { TestService } from "@stepwell/testing/service.ts";
import type { FirstOrganization } from "../node/child-node.ts";

/** Yields the types of the entries in a stream of server-sent events, until it ends. */
export async function* streamTypes(
  node: TestService,
  { organizationId, owner }: FirstOrganization,
  jobId: string,
): AsyncGenerator<string> {
  const url = `${node.baseUrl}/organizations/${organizationId}/jobs/${jobId}/stream`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${owner.token}` } });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const type = /^event: (.+)$/m.exec(event)?.[1];
      if (type !== undefined) yield type;
    }
  }
}
