import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import type { CallName } from "../../../src/core/job/call.ts";
import {
  type ChangedCalls,
  countHeldCalls,
  findCalls,
  findCallsOfNode,
  holdsCall,
  markBegun,
  takeOverCalls,
  writeCalls,
} from "../../../src/store/jobs/job-calls.ts";

const readyAt = Date.parse("2026-01-31T12:00:00Z");
const nobody = { versionIds: [], jobIds: [], organizationIds: [] };

onEveryStore((home) => {
  const opened = useDatabase(home);

  async function newJob() {
    const key = {
      organizationId: randomUUID(),
      jobId: randomUUID(),
      versionId: randomUUID(),
      workflowId: randomUUID(),
    };
    const insert = "INSERT INTO organization VALUES ($1, $1::uuid::text, 'test', now(), now(), NULL)";
    await opened.database.query(said(insert), [key.organizationId]);
    const write = (nodeId: string, change: Partial<ChangedCalls>) =>
      opened.database.transaction((transaction) =>
        writeCalls(transaction, { nodeId, readyAt }, [{ ...key, made: [], ended: [], callCount: 0, ...change }]),
      );
    const { organizationId, jobId } = key;
    const keyOf = (call: CallName) => ({ organizationId, jobId, ...call });
    return { key, write, keyOf };
  }

  const main: CallName = { branch: "", step: "pick", visit: 1, epoch: 1 };
  const first: CallName = { branch: "fan-out:1[0]", step: "pack", visit: 1, epoch: 2 };
  const second: CallName = { branch: "fan-out:1[1]", step: "pack", visit: 1, epoch: 3 };

  test("calls of one job in different branches do not affect each other", async () => {
    const { key, write, keyOf } = await newJob();
    const [node, other] = [randomUUID(), randomUUID()];
    const held = async () => (await findCalls(opened.database, key)).map(({ epoch, nodeId }) => [epoch, nodeId]).sort();

    await write(node, { made: [main, first, second].map((call) => ({ ...call, begun: call === main })), callCount: 3 });
    expect(await findCalls(opened.database, key)).toEqual(
      expect.arrayContaining(
        [main, first, second].map((call) => expect.objectContaining({ ...keyOf(call), nodeId: node })),
      ),
    );

    expect(await markBegun(opened.database, node, [keyOf(first)])).toEqual([keyOf(first)]);
    expect(await takeOverCalls(opened.database, other, node, [keyOf(first)])).toEqual([
      { ...keyOf(first), hadBegun: true },
    ]);
    expect(await takeOverCalls(opened.database, other, node, [keyOf(second)])).toEqual([
      { ...keyOf(second), hadBegun: false },
    ]);
    expect(await held()).toEqual([
      [1, node],
      [2, other],
      [3, other],
    ]);
    expect(await holdsCall(opened.database, node, keyOf(main))).toBe(true);
    expect(await holdsCall(opened.database, node, keyOf(first))).toBe(false);
    expect(await countHeldCalls(opened.database, key.organizationId)).toEqual(
      expect.arrayContaining([
        { nodeId: node, count: 1 },
        { nodeId: other, count: 2 },
      ]),
    );

    await write(other, { ended: [first], callCount: 2 });
    expect(await held()).toEqual([
      [1, node],
      [3, other],
    ]);
    await write(other, { ended: [main, second] });
    expect(await held()).toEqual([]);
  });

  test("the next call of a branch replaces the one before, whose epoch is then unknown", async () => {
    const { key, write, keyOf } = await newJob();
    const [node, other] = [randomUUID(), randomUUID()];
    const next = { ...main, step: "ship", epoch: 4 };
    await write(node, {
      made: [main, first].map((call) => ({ ...call, begun: true })),
      callCount: 2,
    });
    await write(other, { made: [{ ...next, begun: false }], callCount: 2 });

    expect(await findCalls(opened.database, key)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...keyOf(next), nodeId: other }),
        expect.objectContaining({ ...keyOf(first), nodeId: node }),
      ]),
    );
    expect(await markBegun(opened.database, node, [keyOf(main)])).toEqual([]);
    expect(await takeOverCalls(opened.database, node, other, [keyOf(main)])).toEqual([]);
    expect(await takeOverCalls(opened.database, node, other, [keyOf(next)])).toEqual([
      { ...keyOf(next), hadBegun: false },
    ]);
  });

  test("the calls of a node are found in parts, and no branch is omitted", async () => {
    const { key, write } = await newJob();
    const node = randomUUID();
    await write(node, { made: [main, first, second].map((call) => ({ ...call, begun: true })), callCount: 3 });

    const found: string[] = [];
    let after: { jobId: string; branch: string } | undefined;
    for (let part = 0; part < 4; part += 1) {
      const [call] = await findCallsOfNode(opened.database, { nodeId: node, ageMs: 0, after }, nobody, 1);
      if (call === undefined) break;
      expect(call).toMatchObject({ organizationId: key.organizationId, jobId: key.jobId, versionId: key.versionId });
      found.push(call.branch);
      after = call;
    }
    expect(found).toEqual(["", "fan-out:1[0]", "fan-out:1[1]"]);
  });

  test("writing a call of an organization that is not in the store fails", async () => {
    const { write } = await newJob();
    const change = { organizationId: randomUUID(), made: [{ ...main, begun: true }], callCount: 1 };
    await expect(write(randomUUID(), change)).rejects.toThrow("Only 0 of 1 calls were written.");
  });
});
