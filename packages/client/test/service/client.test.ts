import { straightDefinition, waitingDefinition } from "@stepwell/testing/definitions.ts";
import { TcpProxy } from "@stepwell/testing/proxies/tcp-proxy.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, onTestFinished, test } from "vitest";
import { operationTable } from "../../src/generated/operations.ts";
import { createClient, type HistoryEntry, type ListName, type StepwellClient } from "../../src/index.ts";

onOneStore((home) => {
  const service = useService(home);

  /** Makes an organization with a workflow, and a client that reaches the service through a proxy. */
  async function behindProxy(definition = straightDefinition) {
    const organization = await service.newOrganization();
    const { organizationId, owner } = organization;
    const proxy = await TcpProxy.before(service.baseUrl);
    onTestFinished(() => proxy.stop());
    const direct = createClient({ baseUrl: service.baseUrl, token: owner.token });
    const { workflowId } = await direct.deploy(organizationId, definition);
    const client = createClient({ baseUrl: proxy.url, token: owner.token });
    return { organization, organizationId, workflowId, client, direct, proxy };
  }

  for (const fate of ["lost", "answer-swallowed", "late"] as const) {
    test(`a job is submitted once, whatever happens to the request on its way: ${fate}`, async () => {
      const { organizationId, workflowId, client, direct, proxy } = await behindProxy(waitingDefinition);
      const met = proxy.onNext("POST /organizations", fate);
      const { jobId } = await client.submitJob(organizationId, { workflowId });
      if (fate === "late") await (await met).deliver();
      const jobs = await direct.listJobs(organizationId).toArray();
      expect(jobs.map((job) => job.jobId)).toEqual([jobId]);
    });

    test(`a token is created once, and the client has a valid token: ${fate}`, async () => {
      const { organizationId, client, direct, proxy } = await behindProxy();
      const met = proxy.onNext("POST /organizations", fate);
      const body = { name: "t", permissions: ["job:read" as const] };
      const { token, tokenId } = await client.call("CreateApiToken", { path: { organizationId }, body });
      if (fate === "late") await (await met).deliver();
      const tokens = await direct.list("ListApiTokens", { path: { organizationId } }).toArray();
      expect(tokens.map((one) => one.tokenId)).toEqual([tokenId]);
      expect(await createClient({ baseUrl: service.baseUrl, token }).whoAmI()).toMatchObject({ id: tokenId });
    });
  }

  test("a deployment over a connection that drops each answer creates one workflow and one version", async () => {
    const { organizationId, client, direct, proxy } = await behindProxy();
    const definition = { ...JSON.parse(straightDefinition), workflowName: "dropped" };
    const deploying = client.deploy(organizationId, definition);
    for (const request of ["/workflows HTTP", "/versions?", "/tags/"]) await proxy.onNext(request, "answer-swallowed");
    const { versionNumber, workflowId } = await deploying;
    expect(versionNumber).toBe(1);
    const found = await direct.listWorkflows(organizationId, { name: "dropped" }).toArray();
    expect(found).toMatchObject([{ workflowId, tags: [{ tag: "$LIVE", versionNumber: 1 }] }]);
    expect(await direct.listVersions(organizationId, workflowId).toArray()).toHaveLength(1);
  });

  test("a deployment under a key creates a new workflow, and its repetition under the same key creates nothing", async () => {
    const { organizationId, direct } = await behindProxy();
    const definition = { ...JSON.parse(straightDefinition), workflowName: "keyed" };
    const deploy = () => direct.deploy(organizationId, definition, "$LIVE", { idempotencyKey: "k".repeat(255) });
    const first = await deploy();
    expect(first).toMatchObject({ versionNumber: 1, created: true, isTagMoved: true });
    expect(await deploy()).toEqual(first);
    expect(await direct.listVersions(organizationId, first.workflowId).toArray()).toHaveLength(1);
  });

  test("submitting and waiting ends with the job, although the connection breaks again and again", async () => {
    const { organizationId, workflowId, client, direct, proxy } = await behindProxy(waitingDefinition);
    const ended = client.submitAndWait(organizationId, { workflowId });
    const jobId = await jobThatWaits(direct, organizationId);
    for (let round = 0; round < 3; round += 1) {
      proxy.drop();
      await direct.getJob(organizationId, jobId);
    }
    await proxy.refuse();
    await direct.sendEvent(organizationId, jobId, { eventId: "approved" });
    await proxy.pass();
    expect(await ended).toMatchObject({ jobId, status: "SUCCEEDED" });
    expect(await direct.listJobs(organizationId).toArray()).toHaveLength(1);
  });

  test("watching a job gives each entry of its history once, although the connection breaks meanwhile", async () => {
    const { organizationId, workflowId, client, direct, proxy } = await behindProxy(waitingDefinition);
    const { jobId } = await direct.submitJob(organizationId, { workflowId });
    const seen: HistoryEntry[] = [];
    for await (const entry of client.watchJob(organizationId, jobId)) {
      seen.push(entry);
      proxy.drop();
      if (entry.type === "step.waiting") await direct.sendEvent(organizationId, jobId, { eventId: "approved" });
    }
    expect(seen.at(-1)?.type).toBe("job.succeeded");
    expect(seen).toEqual(await direct.listHistory(organizationId, jobId).toArray());
  });

  test("a list goes through more than one page", async () => {
    const { organizationId, workflowId, direct } = await behindProxy();
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1)
      made.push((await direct.submitJob(organizationId, { workflowId })).jobId);
    const listed: string[] = [];
    for await (const { jobId } of direct.listJobs(organizationId, { order: "oldest", pageSize: 2 })) listed.push(jobId);
    expect(listed).toEqual(made);
  });

  test("every list of an organization can be iterated by its name", async () => {
    const { organization, organizationId } = await behindProxy();
    const client = ownerOf(organization);
    const ofOrganization = Object.entries(operationTable).filter(
      ([, route]) => "items" in route && /^\/organizations\/\{organizationId\}\/[^{}]+$/.test(route.path),
    );
    for (const [name] of ofOrganization) {
      const items = await client.list(name as "ListJobs" & ListName, { path: { organizationId } }).toArray(1);
      expect(items, name).toBeInstanceOf(Array);
    }
    expect(ofOrganization.length).toBeGreaterThan(5);
  });

  test("an export is read as it arrives", async () => {
    const { organization, organizationId } = await behindProxy();
    const { headers, body } = await ownerOf(organization).open("ExportAudit", {
      path: { organizationId },
      query: { format: "jsonl" },
    });
    let text = "";
    for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(piece);
    const actions = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).action);
    expect(headers.get("content-type")).toContain("jsonl");
    expect(actions).toContain("RegisterWorkflow");
  });

  function ownerOf({ owner }: TestOrganization): StepwellClient {
    return createClient({ baseUrl: service.baseUrl, token: owner.token });
  }
});

async function jobThatWaits(client: StepwellClient, organizationId: string): Promise<string> {
  let jobId: string | undefined;
  await expect
    .poll(async () => {
      [jobId] = (await client.listJobs(organizationId, { isWaiting: true }).toArray(1)).map((job) => job.jobId);
      return jobId;
    })
    .toBeDefined();
  return jobId ?? "";
}
