import type { ApiDocument, Operation } from "@stepwell/testing/api/document.ts";
import type { CallOptions } from "@stepwell/testing/client.ts";
import { fieldsOf, labelOf, type RequestField, withValue } from "@stepwell/testing/request-fields.ts";
import { type Pair, type Things, thingsFor } from "./adversary-things.ts";
import { isInOrganization } from "./authorization-callers.ts";
import { type Row, rows, type World } from "./authorization-rows.ts";

/** One way to put into a request a thing of another organization, or one that never existed. */
export interface Attack {
  readonly operation: Operation;
  readonly row: Row;
  readonly label: string;
  /** The field that is attacked. Undefined for an attack on all ids at once, or on the organization's id alone. */
  readonly field: RequestField | undefined;
  /** Whether the thing belongs where the attack puts it, so that it must be looked up. False for page tokens. */
  readonly fits: boolean;
  /**
   * Whether only callers of the kind `outsider` make the attack. If false, the other callers make it. Outsiders then make it only at operations
   * outside of any organization.
   */
  readonly isFromOutside: boolean;
  readonly pairs: readonly Pair[];
  readonly options: (ids: World["ids"], side: keyof Pair) => CallOptions;
}

/**
 * Makes the attacks on each field with the thing that belongs there and, if `isWhole`, also with every other thing that has the form of the field.
 * For an operation in an organization, more attacks replace all ids, or only the organization's.
 */
export async function attacksOn(
  operation: Operation,
  { document, own, things, isWhole }: { document: ApiDocument; own: World; things: Things; isWhole: boolean },
): Promise<readonly Attack[]> {
  const row = rows[operation.operationId];
  if (row === undefined) return [];
  const attacks: Attack[] = [];
  for (const field of fieldsOf(document, operation)) {
    const wanted = thingsFor(field, operation);
    for (const [index, thing] of (isWhole ? wanted : wanted.slice(0, 1)).entries()) {
      const pair = await things.pair(thing, operation);
      if (pair === undefined) continue;
      attacks.push({
        operation,
        row,
        label: `${operation.operationId}: ${thing} in ${labelOf(field)}`,
        field,
        fits: index === 0 && field.kind !== "fixed" && thing !== "pageToken",
        isFromOutside: false,
        pairs: withParts(pair),
        options: (ids, side) => withValue(row.call(ids), field, pair[side], (name) => besideOf(name, ids)),
      });
    }
  }
  return isInOrganization(operation) ? [...attacks, ...attacksWithAll(operation, row, own, things)] : attacks;
}

/** Tells whether the request's target belongs to another organization, so that the request cannot change anything of the caller's own. */
export function namesTheirs({ field }: Attack): boolean {
  return field === undefined || (field.place === "path" && field.kind === "id");
}

function attacksWithAll(operation: Operation, row: Row, own: World, things: Things): readonly Attack[] {
  const { operationId } = operation;
  const idsOf = { theirs: things.idsOf("theirs"), nobodys: things.idsOf("nobodys") };
  const names = Object.keys(idsOf.theirs) as (keyof World["ids"])[];
  const all = names.map((name) => ({ theirs: idsOf.theirs[name], nobodys: idsOf.nobodys[name] }));
  const pairs = all.filter(({ theirs, nobodys }) => theirs !== nobodys);
  const ownPair = { theirs: own.ids.organizationId, nobodys: idsOf.nobodys.organizationId };
  const within = (ids: World["ids"], organizationId: string): CallOptions => {
    const options = row.call(ids);
    return { ...options, params: { ...options.params, organizationId } };
  };
  const shared = { operation, row, field: undefined, fits: true, isFromOutside: false };
  const inOwn: Attack = {
    ...shared,
    label: `${operationId}: everything of another organization, in the caller's own organization`,
    pairs,
    options: (ids, side) => within(idsOf[side], ids.organizationId),
  };
  return [
    {
      ...shared,
      label: `${operationId}: everything of another organization`,
      pairs,
      options: (_ids, side) => within(idsOf[side], idsOf[side].organizationId),
    },
    ...(row.names === "nothing" ? [] : [inOwn]),
    {
      ...shared,
      label: `${operationId}: an organization of which the callers are not members`,
      isFromOutside: true,
      pairs: [ownPair],
      options: (ids, side) => within(ids, ownPair[side]),
    },
  ];
}

/** Returns the pair. If its names consist of two ids, also returns a pair for each id, since an answer may show each id separately. */
function withParts(pair: Pair): readonly Pair[] {
  const [theirs, nobodys] = [pair.theirs.split("/"), pair.nobodys.split("/")];
  if (theirs.length === 1) return [pair];
  return [pair, ...theirs.map((part, index) => ({ theirs: part, nobodys: nobodys[index] ?? part }))];
}

/** Returns the caller's own thing of that name, or "other" if the caller has none. */
function besideOf(name: string, ids: World["ids"]): string {
  return (ids as Readonly<Record<string, string>>)[name] ?? "other";
}
