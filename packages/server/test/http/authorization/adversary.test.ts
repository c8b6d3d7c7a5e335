import type { ApiDocument, Operation } from "@stepwell/testing/api/document.ts";
import type { Answer } from "@stepwell/testing/client.ts";
import { fieldsOf } from "@stepwell/testing/request-fields.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { atOnce } from "@stepwell/testing/time/at-once.ts";
import { beforeAll, expect, test } from "vitest";
import { type Cell, seenIn } from "./adversary-answers.ts";
import { attacksOn, namesTheirs } from "./adversary-attacks.ts";
import { buildAdversaries } from "./adversary-callers.ts";
import { changedRows, isDenialOf, isExpiredSignIn, isRowOf, isWorkerSeen, rowsOfStore } from "./adversary-rows.ts";
import { type Pair, Things, thingOf } from "./adversary-things.ts";
import { isInOrganization, mayCall, planOf } from "./authorization-callers.ts";
import { buildWorld, type MatrixCaller, type World } from "./authorization-rows.ts";

type Answered = Answer<string>;

/** In the whole matrix, each field gets every thing of its form, from every caller. In `npm test` it gets one thing, from a few callers. */
const isWhole = scope === "all";

/**
 * The adversary knows every id, name and page token of another organization, and puts them into every field of every documented operation, as every
 * kind of caller. Each answer is compared with the answer to the same request about something that never existed, and the whole store is read before
 * and after.
 */
onOneStore((home) => {
  const service = useService(home, {
    STEPWELL_MAX_REFUSALS_PER_MINUTE: "0",
    STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE: "0",
    STEPWELL_ORGANIZATION_SUBMITS_PER_MINUTE: "0",
    STEPWELL_TOKEN_REQUESTS_PER_MINUTE: "0",
    STEPWELL_TOKEN_SUBMITS_PER_MINUTE: "0",
    STEPWELL_MAX_ROLES: "10000",
    STEPWELL_MAX_OPEN_INVITATIONS: "10000",
    STEPWELL_MAX_OAUTH_CLIENTS: "10000",
    STEPWELL_MAX_API_TOKENS: "100000",
    STEPWELL_MAX_WORKFLOWS: "100000",
    STEPWELL_MAX_ORGANIZATIONS_PER_ACCOUNT: "10000",
  });
  let own: World;
  let things: Things;
  let document: ApiDocument;
  let cells: readonly Cell[];
  const differences: string[] = [];
  const named: string[] = [];
  const reached: string[] = [];
  const statuses = new Map<string, Set<number>>();
  const told = new Set<string>();
  const deniedRequests = new Set<string>();

  beforeAll(async () => {
    own = await buildWorld(service);
    things = await Things.of(service, await buildWorld(service), own);
    document = await own.organization.api.document();
    const adversaries = await buildAdversaries(service, own);
    const plan = planOf(document.operations, adversaries);
    const made: Cell[] = [];
    for (const operation of document.operations) {
      const trying = plan.get(operation.operationId) ?? [];
      for (const [index, attack] of (await attacksOn(operation, { document, own, things, isWhole })).entries()) {
        const kind = index % 2 === 0 ? "token" : "session";
        for (const caller of isWhole ? trying : fewOf(trying, operation, kind)) {
          if (isInOrganization(operation) && attack.isFromOutside !== (caller.kind === "outsider")) continue;
          const usesUp = !namesTheirs(attack) && mayCall(caller, operation) ? attack.row.fresh : undefined;
          const fresh = async () => ({ ...own.ids, ...(await usesUp?.(own, service)) });
          made.push({ attack, caller, ids: { theirs: await fresh(), nobodys: await fresh() } });
        }
      }
    }
    cells = made;
  }, 600_000);

  async function asked(cell: Cell, side: keyof Pair): Promise<Answered> {
    const { attack, caller, ids } = cell;
    const client = own.organization.api.as(caller.token);
    const answer = await client.ask(attack.operation.operationId, attack.options(ids[side], side));
    const seen = statuses.get(attack.label) ?? new Set();
    statuses.set(attack.label, seen.add(answer.status));
    if (side === "theirs") lookForIds(cell, answer);
    if (side === "theirs" && answer.status === 403) deniedRequests.add(answer.headers.get("x-request-id") ?? "");
    return answer;
  }

  function compare(cell: Cell, theirs: Answered, nobodys: Answered): void {
    const { attack, caller } = cell;
    const one = seenIn(cell, theirs, "theirs");
    const other = seenIn(cell, nobodys, "nobodys");
    if (namesTheirs(attack) && ![401, 403, 404].includes(theirs.status))
      reached.push(`${caller.name}, ${attack.label}: ${one}`);
    if (one === other) return;
    if (attack.label in saidToEverybody) told.add(attack.label);
    else differences.push(`${caller.name}, ${attack.label}:\n  ${one}\n  ${other}`);
  }

  function lookForIds({ attack, caller }: Cell, theirs: Answered): void {
    const sent = attack.pairs.map((pair) => pair.theirs).join();
    for (const id of things.ids) {
      if (!sent.includes(id) && theirs.body.includes(id)) named.push(`${caller.name}, ${attack.label}: ${theirs.body}`);
    }
  }

  test("requests about another organization's resources get the same answers as requests about resources that never existed", async () => {
    const startedAt = performance.now();
    const reads = cells.filter(({ attack }) => attack.operation.method === "GET");
    const writes = cells.filter(({ attack }) => attack.operation.method !== "GET");
    const before = await rowsOfStore(service);
    await atOnce(reads, async (cell) => {
      const [theirs, nobodys] = await Promise.all([asked(cell, "theirs"), asked(cell, "nobodys")]);
      compare(cell, theirs, nobodys);
    });
    const read = await rowsOfStore(service);
    const { organizationId } = own.ids;
    const isLate = (row: string) => isWorkerSeen(row, organizationId) || isExpiredSignIn(row);
    expect(
      changedRows(before, read).filter((row) => !isLate(row)),
      "reads write nothing",
    ).toEqual([]);

    // The attacks run first with things that never existed. If all of these requests of an attack are rejected, the same requests about the
    // other organization must leave no rows except denials. If one is accepted, it makes something of the caller's own.
    const unknown = new Map<Cell, Answered>();
    await atOnce(groupsOf(writes), async (group) => {
      for (const cell of group) unknown.set(cell, await asked(cell, "nobodys"));
    });
    const { refused = [], accepted = [] } = Object.groupBy(groupsOf(writes), (group) =>
      group.every((cell) => (unknown.get(cell)?.status ?? 0) >= 400) ? "refused" : "accepted",
    );
    const askedAgain = async (group: readonly Cell[]) => {
      for (const cell of group) compare(cell, await asked(cell, "theirs"), unknown.get(cell) as Answered);
    };
    const unwritten = await rowsOfStore(service);
    deniedRequests.clear();
    await atOnce(refused, askedAgain);
    const refusedRows = changedRows(unwritten, await rowsOfStore(service));
    await atOnce(accepted, askedAgain);
    const after = await rowsOfStore(service);

    expect(differences).toEqual([]);
    expect(reached, "a caller who names a thing of another organization finds nothing").toEqual([]);
    expect(named, "no answer names an id that the caller did not send").toEqual([]);
    expect([...told]).toEqual(Object.keys(saidToEverybody));
    const theirs = { organizationId: things.world.ids.organizationId, userId: things.world.organization.owner.userId };
    const strays = refusedRows.filter((row) => !isLate(row) && !isDenialOf(row, organizationId, deniedRequests));
    expect(strays, "rejected requests leave no rows except the denials of their callers").toEqual([]);
    expect(
      changedRows(before, after).filter((row) => isRowOf(row, theirs)),
      "nothing of the other organization changes",
    ).toEqual([]);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const counts = `${sizeOf("operation")} operations × ${sizeOf("field")} fields × ${sizeOf("caller")} callers`;
    process.stdout.write(
      `${counts}: ${cells.length} pairs of requests, ${differences.length} differences, ${strays.length} rows, ${seconds} s\n`,
    );
  }, 1_800_000);

  function sizeOf(part: "operation" | "field" | "caller"): number {
    const parts = { operation: cells.map(({ attack }) => attack.operation), caller: cells.map(({ caller }) => caller) };
    if (part !== "field") return new Set<unknown>(parts[part]).size;
    return new Set(cells.map(({ attack }) => attack.field).filter((field) => field !== undefined)).size;
  }

  test("every id that a path takes exists in the other organization, and every list gave a page token", () => {
    for (const operation of document.operations.filter(({ permission }) => permission !== "none")) {
      for (const field of fieldsOf(document, operation)) {
        if (field.place === "path")
          expect(thingOf(field, operation), `${operation.operationId} ${field.name}`).toBeDefined();
      }
    }
    const paged = document.operations.filter((operation) =>
      fieldsOf(document, operation).some(({ name }) => name === "pageToken"),
    );
    // The sign-in providers are in the operator's file, which this test does not have.
    const expected = paged.map(({ operationId }) => operationId).filter((name) => name !== "ListSignInProviders");
    expect(things.listsWithPages.toSorted()).toEqual(expected.sort());
  });

  test("every id and every name is really looked up: at least one caller gets more than a validation error", () => {
    const attacks = new Set(cells.map(({ attack }) => attack).filter(({ fits }) => fits));
    const tooEarly = new Set([400, 401]);
    const early = [...attacks].filter(({ label }) => statuses.get(label)?.isSubsetOf(tooEarly) ?? true);
    expect(early.map(({ label }) => label)).toEqual([]);
  });
});

/** The attacks whose answers may differ, each with the reason. */
const saidToEverybody: Readonly<Record<string, string>> = {
  "CreateOrganization: organizationKey in body key": "a key is unique in the whole service, so a taken one is refused",
};

/** The attempts of one attack stay in order: a change may be accepted the first time and rejected the next time. */
function groupsOf(cells: readonly Cell[]): readonly (readonly Cell[])[] {
  return [...Map.groupBy(cells, ({ attack }) => attack).values()];
}

/** Returns one caller of this kind with the permission and one without it, and one stranger, one bound token and one outsider. */
function fewOf(
  callers: readonly MatrixCaller[],
  operation: Operation,
  kind: "token" | "session",
): readonly MatrixCaller[] {
  const kinds = Map.groupBy(callers, (caller) => caller.kind);
  const few = [
    kinds.get("stranger")?.[0],
    kinds.get(kind)?.find((caller) => mayCall(caller, operation)),
    kinds.get(kind)?.find((caller) => !mayCall(caller, operation)),
    kinds.get("bound token")?.[0],
    kinds.get("outsider")?.[0],
  ];
  return few.filter((caller) => caller !== undefined);
}
