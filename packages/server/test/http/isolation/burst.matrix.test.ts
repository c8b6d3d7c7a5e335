import type { Socket } from "node:net";
import { straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy } from "@stepwell/testing/flow.ts";
import { open, requestText } from "@stepwell/testing/raw.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { expect, test } from "vitest";

const burst = 10_000;
const sockets = 20;

onOneStore((home) => {
  const service = useService(home, {
    STEPWELL_MAX_QUEUED_FACTS: "1000",
    STEPWELL_MAX_QUEUED_FACTS_PER_ORGANIZATION: "500",
    STEPWELL_COMMIT_TIMEOUT_MS: String(timeLimit(3_000)),
  });

  test("a burst of 10,000 submissions by one organization fills its share of the queue, and every submission by another is accepted", async () => {
    const [flooding, calm] = [await service.newOrganization(), await service.newOrganization()];
    const mass = await deploy(flooding.api, straightDefinition);
    const { workflowId } = await deploy(calm.api, straightDefinition);

    const flood = Promise.all(
      Array.from({ length: sockets }, () => submitMany(service.port, flooding, mass.workflowId, burst / sockets)),
    );
    const progress = { isOver: false };
    const served = flood.finally(() => {
      progress.isOver = true;
    });
    let taken = 0;
    while (!progress.isOver) {
      await calm.api.call("SubmitJob", { body: { workflowId }, status: 201 });
      taken += 1;
    }

    const answers = (await served).flat();
    const statuses = new Set(answers.map(({ status }) => status));
    expect(statuses).toEqual(new Set([201, 429]));
    const refused = answers.filter(({ status }) => status === 429);
    expect(new Set(refused.map(({ retryAfter }) => retryAfter))).toEqual(new Set(["1"]));
    // At least one submission of `calm` was accepted while `flooding` was still waiting for answers.
    expect(taken).toBeGreaterThan(1);
    // The store has every job that was answered with 201, and no other.
    const { body } = await flooding.api.call("ListJobs", { query: { includeTotal: true } });
    expect(body.totalCount).toBe(answers.length - refused.length);
  });
});

interface Answered {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Sends all requests together on one connection, without waiting for answers in between. Resolves when all are answered. */
async function submitMany(
  port: number,
  { organizationId, owner }: TestOrganization,
  workflowId: string,
  count: number,
): Promise<Answered[]> {
  const lines = [`Authorization: Bearer ${owner.token}`, "Content-Type: application/json"];
  const body = JSON.stringify({ workflowId });
  const socket = await open(port);
  socket.write(requestText(`POST /organizations/${organizationId}/jobs`, lines, body).repeat(count));
  const text = await readAnswers(socket, count);
  socket.destroy();
  return text
    .split(statusLine)
    .slice(1)
    .map((answer) => ({ status: Number(answer.slice(0, 3)), retryAfter: /^retry-after: (\d+)/im.exec(answer)?.[1] }));
}

const statusLine = "HTTP/1.1 ";

async function readAnswers(socket: Socket, count: number): Promise<string> {
  let text = "";
  let seen = 0;
  let from = 0;
  for await (const chunk of socket) {
    text += String(chunk);
    for (let at = text.indexOf(statusLine, from); at !== -1; at = text.indexOf(statusLine, from)) {
      seen += 1;
      from = at + statusLine.length;
    }
    if (seen === count && text.endsWith("}")) return text;
  }
  throw new Error(`The connection ended after ${seen} of ${count} answers.`);
}
