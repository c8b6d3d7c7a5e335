import type { ApiDocument } from "@stepwell/testing/api/document.ts";
import type { CallOptions, ProblemBody } from "@stepwell/testing/client.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { atOnce } from "@stepwell/testing/time/at-once.ts";
import { beforeAll, expect, test } from "vitest";
import { permissions } from "../../../src/auth/permissions/permissions.ts";
import {
  buildCallers,
  everythingBut,
  exactly,
  mayCall,
  type Plan,
  permissionsAt,
  planOf,
} from "./authorization-callers.ts";
import { buildWorld, type MatrixCaller, publicOperations, rows, type World } from "./authorization-rows.ts";

/**
 * The matrix of permissions, for every documented operation. The code tells two callers apart only by the kind of their credential and by whether
 * they have the operation's permission. So it is enough that one caller of each such class tries each operation.
 */
onOneStore((home) => {
  const service = useService(home);
  let own: World;
  let foreign: World;
  let document: ApiDocument;
  let callers: readonly MatrixCaller[];
  let plan: Plan;

  beforeAll(async () => {
    own = await buildWorld(service);
    foreign = await buildWorld(service);
    document = await own.organization.api.document();
    callers = await buildCallers(service, own);
    plan = planOf(document.operations, callers);
  }, 60_000);

  test("every operation of the document has its row, and every row its operation", () => {
    const all = document.operations.map(({ operationId }) => operationId).sort();
    expect([...Object.keys(rows), ...publicOperations].sort()).toEqual(all);
    for (const { operationId, permission } of document.operations) {
      expect(permission === "none", operationId).toBe(publicOperations.some((name) => name === operationId));
    }
  });

  test("every permission is required by some operation, held by some caller and not held by another", () => {
    const asked = document.operations.map(({ permission }) => permission);
    for (const permission of permissions) {
      expect(asked).toContain(permission);
      const holding = callers.map(
        ({ may, mayOutside }) => may?.has(permission) || mayOutside?.has(permission) || false,
      );
      expect(new Set(holding), permission).toEqual(new Set([true, false]));
    }
  });

  test("every operation is called by strangers, by a caller with its permission alone, and by one with all other permissions", () => {
    for (const [operationId, those] of plan) {
      const operation = document.operation(operationId);
      const tried = those.map((caller) => permissionsAt(caller, operation));
      expect(
        tried.filter((may) => may === undefined),
        operationId,
      ).toHaveLength(3);
      if (operation.permission === "any") continue;
      expect(tried, operationId).toContainEqual(exactly(operation.permission));
      expect(tried, operationId).toContainEqual(everythingBut(operation.permission));
    }
  });

  test("every caller calls some operation", () => {
    const trying = new Set([...plan.values()].flat());
    expect(callers.filter((caller) => !trying.has(caller)).map(({ name }) => name)).toEqual([]);
  });

  test.each(inOrder)("%s is allowed for callers with its permission, and for no others", async (operationId, row) => {
    const operation = document.operation(operationId);
    await atOnce(plan.get(operationId) ?? [], async (caller) => {
      const client = own.organization.api.as(caller.token);
      const ask = (options: CallOptions) => client.callAny<ProblemBody>(operationId, options);
      const cell = `${caller.name} calls ${operationId}`;
      const may = permissionsAt(caller, operation);
      const isAllowed = mayCall(caller, operation);
      const ids = isAllowed && row.fresh ? { ...own.ids, ...(await row.fresh(own, service)) } : own.ids;
      const here = await ask(row.call(ids));
      if (may === undefined) {
        expect(here.status, cell).toBe(401);
      } else if (isAllowed) {
        expect(here.status, cell).toBe(typeof row.allowed === "number" ? row.allowed : row.allowed(caller));
        if (here.status < 300) await row.restore?.(own, service, caller);
      } else {
        expect(here.status, cell).toBe(403);
        expect(here.body.detail, cell).toContain(operation.permission);
      }
    });
  });

  test("simultaneous reads and changes of two organizations share statements, but nothing else", async () => {
    const { engine } = service.running;
    const theirs = { organizationId: foreign.ids.organizationId, jobId: foreign.ids.jobId };
    const reach = { organizationId: own.ids.organizationId, jobId: foreign.ids.jobId };
    const [found, reached] = await Promise.all([engine.readJob(theirs), engine.readJob(reach)]);
    expect([found?.job.jobId, reached]).toEqual([theirs.jobId, undefined]);

    const body = { eventId: "at once" };
    const calls = Array.from({ length: 20 }, (_, index) => {
      const { api } = index % 2 === 0 ? own.organization : foreign.organization;
      return api.callAny("SendJobEvent", { params: { jobId: theirs.jobId }, body });
    });
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual(calls.map((_, index) => (index % 2 === 0 ? 404 : 200)));
  });

  test("an id in capital letters is the same id", async () => {
    const { api } = own.organization;
    const { organizationId, jobId } = own.ids;
    const params = { organizationId: organizationId.toUpperCase(), jobId: jobId.toUpperCase() };
    const { token: text } = await storeToken(service, own.ids.organizationId, { permissions: ["job:read"] });
    expect((await api.as(text).call("GetJob", { params })).body.jobId).toBe(jobId);
  });

  test("a missing permission is reported before faults of the body", async () => {
    const { token: text } = await storeToken(service, own.ids.organizationId, { permissions: ["job:read"] });
    await own.organization.api.as(text).refused("SubmitJob", "AuthorizationError", { body: "{" });
    await own.organization.api.as(undefined).refused("SubmitJob", "AuthenticationError", { body: "{" });
  });
});

/** The operations on the audit trail come first: they read all of it, and the other operations make it longer. */
const inOrder = Object.entries(rows).sort(
  ([one], [other]) => Number(/Audit$/.test(other)) - Number(/Audit$/.test(one)),
);
