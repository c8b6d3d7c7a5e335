import type { Answer, CallOptions, Client } from "@stepwell/testing/client.ts";
import type { ApiDocument, Operation } from "@stepwell/testing/document.ts";
import { fieldsOf, labelOf, type RequestField, withValue } from "@stepwell/testing/request-fields.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";
import { buildAdversaries } from "./adversary-callers.ts";
import { type Pair, rowsOfStore, type Thing, Things, thingOf, thingsFor } from "./adversary-things.ts";
import { isInOrganization, mayCall, planOf } from "./authorization-callers.ts";
import { buildWorld, type MatrixCaller, type Row, rows, type World } from "./authorization-rows.ts";

const isWhole = scope === "all";

/** One way to write what is another organization's into a request, or else what never existed. */
interface Attack {
  readonly operation: Operation;
  readonly row: Row;
  readonly label: string;
  /** Undefined where everything in the request is another organization's. */
  readonly field: RequestField | undefined;
  readonly isOnOutside: boolean;
  readonly pairs: readonly Pair[];
  readonly options: (ids: World["ids"], side: keyof Pair) => CallOptions;
}

/** One caller's try. */
interface Cell {
  readonly attack: Attack;
  readonly caller: MatrixCaller;
  /** Two of them where acting uses up what is acted on. */
  readonly ids: Readonly<Record<keyof Pair, World["ids"]>>;
}

type Answered = Answer<string>;

/**
 * The adversary knows every id, name and page token of another organization, and writes them into every field of every operation that the document
 * has, as every kind of caller. Each answer is held against the answer to the same request about what never existed, and the whole store is read
 * before and after.
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
  });
  let own: World;
  let things: Things;
  let document: ApiDocument;
  let cells: readonly Cell[];
  let fieldCount = 0;
  const callers = new Set<string>();
  const differences: string[] = [];
  const named: string[] = [];
  const reached: string[] = [];
  const statuses = new Map<string, Set<number>>();
  const told = new Set<string>();
  const deniedRequests = new Set<string>();

  beforeAll(async () => {
    own = await buildWorld(service);
    things = await Things.of(service, await buildWorld(service));
    document = await own.organization.api.document();
    const adversaries = await buildAdversaries(service, own);
    const plan = planOf(document.operations, adversaries);
    const made: Cell[] = [];
    for (const operation of document.operations) {
      const trying = plan.get(operation.operationId) ?? [];
      const attacks = await attacksOn(operation);
      for (const attack of attacks) {
        for (const caller of isWhole ? trying : fewOf(trying, operation)) {
          if (attack.isOnOutside !== (caller.kind === "outsider") && isInOrganization(operation)) continue;
          const needsFresh = !namesTheirs(attack) && mayCall(caller, operation);
          const fresh = async () => ({ ...own.ids, ...(needsFresh ? await attack.row.fresh?.(own, service) : {}) });
          made.push({ attack, caller, ids: { theirs: await fresh(), nobodys: await fresh() } });
          callers.add(caller.name);
        }
      }
    }
    cells = made;
  }, 600_000);

  async function attacksOn(operation: Operation): Promise<Attack[]> {
    const row = rows[operation.operationId];
    if (row === undefined) return [];
    const fields = fieldsOf(document, operation);
    fieldCount += fields.length;
    const attacks: Attack[] = [];
    for (const field of fields) {
      const wanted = thingsFor(field, operation);
      for (const thing of isWhole ? wanted : wanted.slice(0, 1)) {
        const pair = await things.pair(thing, operation);
        if (pair === undefined) continue;
        const label = labelOfAttack(operation, thing, field);
        attacks.push({
          operation,
          row,
          label,
          field,
          isOnOutside: false,
          pairs: [pair],
          options: (ids, side) => withValue(row.call(ids), field, pair[side], (name) => besideOf(name, ids)),
        });
      }
    }
    return isInOrganization(operation) ? [...attacks, ...attacksFromOutside(operation, row)] : attacks;
  }

  /** With all ids at once, and by those to whom the own organization is another one. */
  function attacksFromOutside(operation: Operation, row: Row): Attack[] {
    const { operationId } = operation;
    const theirs = things.idsOf("theirs");
    const nobodys = things.idsOf("nobodys");
    const pairs = Object.keys(theirs)
      .map((name) => name as keyof World["ids"])
      .map((name) => ({ theirs: theirs[name], nobodys: nobodys[name] }))
      .filter((pair) => pair.theirs !== pair.nobodys);
    const within = (ids: World["ids"], organizationId: string): CallOptions => {
      const options = row.call(ids);
      return { ...options, params: { ...options.params, organizationId } };
    };
    const ownPair = { theirs: own.ids.organizationId, nobodys: nobodys.organizationId };
    const shared = { operation, row, field: undefined, isOnOutside: false };
    const inOwn: Attack = {
      ...shared,
      label: `${operationId}: everything of another organization in the own one`,
      pairs,
      options: (ids, side) => within(side === "theirs" ? theirs : nobodys, ids.organizationId),
    };
    return [
      {
        ...shared,
        label: `${operationId}: everything of another organization`,
        pairs,
        options: (_ids, side) => {
          const ids = side === "theirs" ? theirs : nobodys;
          return within(ids, ids.organizationId);
        },
      },
      ...(row.names === "nothing" ? [] : [inOwn]),
      {
        ...shared,
        label: `${operationId}: an organization that is the callers' no more`,
        isOnOutside: true,
        pairs: [ownPair],
        options: (ids, side) => within(ids, ownPair[side]),
      },
    ];
  }

  function besideOf(name: string, ids: World["ids"]): string {
    return (ids as Readonly<Record<string, string>>)[name] ?? "other";
  }

  async function asked(cell: Cell, side: keyof Pair): Promise<Answered> {
    const { attack, caller, ids } = cell;
    const client: Client = own.organization.api.as(caller.token);
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

  const isRead = ({ attack }: Cell) => attack.operation.method === "GET";
  /** Rows that are there now and were not, and the other way around. */
  const changed = (before: ReadonlySet<string>, after: ReadonlySet<string>) => [...before.symmetricDifference(after)];

  test("answers about what is another organization's are those about what never existed", async () => {
    const startedAt = performance.now();
    const reads = cells.filter(isRead);
    const writes = cells.filter((cell) => !isRead(cell));
    const before = await rowsOfStore(service);
    await atOnce(reads, async (cell) => {
      const [theirs, nobodys] = await Promise.all([asked(cell, "theirs"), asked(cell, "nobodys")]);
      compare(cell, theirs, nobodys);
    });
    const read = await rowsOfStore(service);
    expect(changed(before, read), "reads write nothing").toEqual([]);

    // What never existed first: what is refused then must leave no row. What is accepted is the caller's own, as a name is that two organizations may use.
    const unknown = new Map<Cell, Answered>();
    await atOnce(groupsOf(writes), async (group) => {
      for (const cell of group) unknown.set(cell, await asked(cell, "nobodys"));
    });
    const isRefused = (group: readonly Cell[]) => group.every((cell) => (unknown.get(cell)?.status ?? 0) >= 400);
    const [refused, accepted] = [groupsOf(writes).filter(isRefused), groupsOf(writes).filter((g) => !isRefused(g))];
    const askedAgain = async (group: readonly Cell[]) => {
      for (const cell of group) compare(cell, await asked(cell, "theirs"), unknown.get(cell) as Answered);
    };
    const unwritten = await rowsOfStore(service);
    deniedRequests.clear();
    await atOnce(refused, askedAgain);
    const refusedRows = changed(unwritten, await rowsOfStore(service));
    await atOnce(accepted, askedAgain);
    const after = await rowsOfStore(service);

    expect(differences).toEqual([]);
    expect(reached, "whoever names what is another organization's finds nothing").toEqual([]);
    expect(named, "no answer names an id that the caller did not send").toEqual([]);
    expect([...told]).toEqual(Object.keys(saidToEverybody));
    const strays = refusedRows.filter((row) => !isDenialOf(row, own.ids.organizationId, deniedRequests));
    expect(strays, "what is refused leaves the callers' own denials and nothing else").toEqual([]);
    expect(changed(before, after).filter(isTheirs), "nothing of the other organization changes").toEqual([]);
    const operationCount = new Set(cells.map(({ attack }) => attack.operation)).size;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    process.stdout.write(
      `${operationCount} operations × ${fieldCount} fields × ${callers.size} callers: ${cells.length} pairs of requests, ${differences.length} differences, ${strays.length} rows, ${seconds} s\n`,
    );
  }, 1_800_000);

  function isTheirs(row: string): boolean {
    const [, text = "{}"] = /^\S+ (.*)$/s.exec(row) ?? [];
    const columns = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const { organizationId } = things.world.ids;
    const { userId } = things.world.organization.owner;
    return columns.organization_id === organizationId || columns.user_id === userId;
  }

  test("every id that a path takes is among what the other organization has, and every list gave a page token", () => {
    for (const operation of document.operations.filter(({ permission }) => permission !== "none")) {
      for (const field of fieldsOf(document, operation)) {
        if (field.place === "path")
          expect(thingOf(field, operation), `${operation.operationId} ${field.name}`).toBeDefined();
      }
    }
    const paged = document.operations.filter((operation) =>
      fieldsOf(document, operation).some(({ name }) => name === "pageToken"),
    );
    // The sign-in providers stand in the operator's file, and there are none here.
    const expected = paged.map(({ operationId }) => operationId).filter((name) => name !== "ListSignInProviders");
    expect(things.listsWithPages.toSorted()).toEqual(expected.sort());
  });

  test("every id and every name is looked for: some caller is told more than that the request is not valid", () => {
    const attacks = new Set(cells.map(({ attack }) => attack));
    const early = [...attacks].filter(({ operation, field, label }) => {
      const isName = field?.kind !== "fixed" && field?.name !== "pageToken";
      // A text that has the form of another thing may be none that this field can have.
      const fits = field === undefined || label === labelOfAttack(operation, thingsFor(field, operation)[0], field);
      return isName && fits && [...(statuses.get(label) ?? [])].every((status) => status === 400 || status === 401);
    });
    expect(early.map(({ label }) => label)).toEqual([]);
  });
});

function labelOfAttack({ operationId }: Operation, thing: Thing | undefined, field: RequestField): string {
  return `${operationId}: ${thing} in ${labelOf(field)}`;
}

/** What the answer may differ in, and why. */
const saidToEverybody: Readonly<Record<string, string>> = {
  "CreateOrganization: organizationKey in body key": "a key is unique in the whole service, so a taken one is refused",
};

/** Then nobody can act on anything: what is named is not the caller's. */
function namesTheirs({ field }: Attack): boolean {
  return field === undefined || (field.place === "path" && field.kind === "id");
}

/** What a caller can see of an answer, with a mark for each value that the request named. */
function seenIn({ attack, ids }: Cell, { status, headers, body }: Answered, side: keyof Pair): string {
  const requestId = headers.get("x-request-id") ?? "";
  const shown = [...headers].filter(([name]) => !unlike.has(name)).sort();
  let text = JSON.stringify([status, shown, body]).replaceAll(requestId, "(request)");
  attack.pairs.forEach((pair, index) => {
    text = text.replaceAll(pair[side], `(value ${index})`);
  });
  for (const [name, id] of Object.entries(ids[side])) {
    if (typeof id === "string" && id.length > 8) text = text.replaceAll(id, `(own ${name})`);
  }
  return status < 300 ? withoutWhatIsNew(text) : text;
}

/** Times and counters of the connection, which differ between any two answers. */
const unlike = new Set(["date", "x-request-id", "x-amzn-requestid"]);

function withoutWhatIsNew(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "(id)")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "(time)")
    .replace(/\bst[a-z]_[\w-]{4,}/g, "(secret)")
    .replace(/\["content-length","\d+"\],/, "")
    .replace(/\\"versionNumber\\":\d+/g, "(number)")
    .replace(/\\"submittedByUser\\":\\"[^"]*"/, "(name)")
    .replace(/\\"key\\":\\"organization-[^"]*"/g, "(key of a new organization)")
    .replace(/(?<=-)[0-9a-f]{8}\b/g, "(ending)");
}

function isDenialOf(row: string, organizationId: string, requests: ReadonlySet<string>): boolean {
  const [, table, text = "{}"] = /^(\S+) (.*)$/s.exec(row) ?? [];
  const columns = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const isDenial = table === "audit_entry" && columns.outcome === "denied";
  return isDenial && columns.organization_id === organizationId && requests.has(String(columns.request_id));
}

/** Of each operation all that one field is tried with stays in order, since what was accepted before may be refused the next time. */
function groupsOf(cells: readonly Cell[]): readonly (readonly Cell[])[] {
  return [...Map.groupBy(cells, ({ attack }) => attack).values()];
}

/** One of each kind in whom the code can see a difference. */
function fewOf(callers: readonly MatrixCaller[], operation: Operation): readonly MatrixCaller[] {
  const kinds = Map.groupBy(callers, ({ kind }) => kind);
  const may = (kind: MatrixCaller["kind"]) => kinds.get(kind)?.find((caller) => mayCall(caller, operation));
  const mayNot = (kind: MatrixCaller["kind"]) => kinds.get(kind)?.find((caller) => !mayCall(caller, operation));
  const few = [
    kinds.get("stranger")?.[0],
    may("token"),
    mayNot("token"),
    may("session"),
    mayNot("session"),
    kinds.get("bound token")?.[0],
    kinds.get("outsider")?.[0],
  ];
  return few.filter((caller) => caller !== undefined);
}

/** As many as keep the service busy while the store commits. */
const maxAtOnce = 8;

async function atOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: maxAtOnce }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}
