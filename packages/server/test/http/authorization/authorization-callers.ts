import type { Operation } from "@stepwell/testing/api/document.ts";
import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import type { TestService } from "@stepwell/testing/service.ts";
import {
  builtInRoles,
  grantablePermissions,
  type Permission,
  type PermissionSet,
  permissionsOfRoles,
  signedInPermissions,
  withImplied,
} from "../../../src/auth/permissions/permissions.ts";
import type { MatrixCaller, World } from "./authorization-rows.ts";

export type Plan = ReadonlyMap<string, readonly MatrixCaller[]>;

/**
 * Chooses the callers that try each operation: everybody without a valid credential, the tokens that are made for its permission, and members. Of
 * each kind of member, one has the permission and one does not. The members take turns, so that every role tries something.
 */
export function planOf(operations: readonly Operation[], callers: readonly MatrixCaller[]): Plan {
  const asking = operations.filter(({ permission }) => permission !== "none");
  return new Map(
    asking.map((operation, turn) => {
      const classes = Map.groupBy(callers, (caller) => classOf(caller, operation));
      return [operation.operationId, [...classes].flatMap(([name, those]) => chosen(name, those, turn))] as const;
    }),
  );
}

/** Returns the class of callers that the code treats alike when they call this operation; undefined for a caller who need not try it. */
function classOf(caller: MatrixCaller, operation: Operation): string | undefined {
  if (caller.kind === "stranger") return caller.name;
  if (caller.kind === "token") return isMadeFor(caller, operation) ? caller.name : undefined;
  if (caller.kind === "user" && isInOrganization(operation)) return undefined;
  return `${caller.kind} ${mayCall(caller, operation)}`;
}

function chosen(name: string | undefined, callers: readonly MatrixCaller[], turn: number): MatrixCaller[] {
  const caller = callers[turn % callers.length];
  return name === undefined || caller === undefined ? [] : [caller];
}

/**
 * Tells whether the token tries the operation. Tokens never hold permissions that are only for people. An operation that needs such a permission, or
 * none, is tried by the token that holds all other permissions.
 */
function isMadeFor({ madeFor }: MatrixCaller, { permission }: Operation): boolean {
  return madeFor === (grantable.has(permission) ? permission : "everything");
}

const grantable: ReadonlySet<string> = new Set(grantablePermissions);

export function mayCall(caller: MatrixCaller, operation: Operation): boolean {
  const may = permissionsAt(caller, operation);
  return may !== undefined && (operation.permission === "any" || may.has(operation.permission as Permission));
}

/** Returns the caller's permissions for this operation: those in the world's organization, or those outside of any. Undefined for a stranger. */
export function permissionsAt({ may, mayOutside }: MatrixCaller, operation: Operation): PermissionSet | undefined {
  return isInOrganization(operation) ? may : (mayOutside ?? may);
}

export function isInOrganization({ path }: Operation): boolean {
  return path.includes("{organizationId}");
}

export function exactly(permission: string): PermissionSet {
  return grantable.has(permission) ? withImplied([permission]) : signedInPermissions;
}

export function everythingBut(permission: string): PermissionSet {
  return new Set(grantablePermissions.filter((other) => !withImplied([other]).has(permission as Permission)));
}

export async function buildCallers(service: TestService, own: World): Promise<readonly MatrixCaller[]> {
  return [...(await strangers(service, own)), ...(await tokens(service, own)), ...(await people(service, own))];
}

async function strangers(service: TestService, { ids, organization: { api } }: World): Promise<MatrixCaller[]> {
  const at = service.running.engine.now() - 10_000;
  const past = { permissions: grantablePermissions, createdAt: at, updatedAt: at, expiresAt: at + 1 };
  const expired = await storeToken(service, ids.organizationId, past);
  const revoked = await storeToken(service, ids.organizationId, { permissions: grantablePermissions });
  await api.call("RevokeApiToken", { params: { tokenId: revoked.tokenId } });
  const stranger = { kind: "stranger", may: undefined } as const;
  return [
    { ...stranger, name: "nobody", token: undefined },
    { ...stranger, name: "an expired token", token: expired.token },
    { ...stranger, name: "a revoked token", token: revoked.token },
  ];
}

/** Makes one token with all permissions, and two for each permission: one that holds only this permission, and one that holds all others. */
async function tokens(service: TestService, { ids }: World): Promise<MatrixCaller[]> {
  const newToken = async (name: string, madeFor: string, permissions: readonly Permission[]): Promise<MatrixCaller> => {
    const { token } = await storeToken(service, ids.organizationId, { permissions });
    return { kind: "token", name, madeFor, token, may: withImplied(permissions) };
  };
  const made = grantablePermissions.map((permission) => [
    newToken(`a token with ${permission} only`, permission, [permission]),
    newToken(`a token with all but ${permission}`, permission, [...everythingBut(permission)]),
  ]);
  return await Promise.all([...made.flat(), newToken("a token with everything", "everything", grantablePermissions)]);
}

async function people(service: TestService, { organization }: World): Promise<MatrixCaller[]> {
  const { owner, api } = organization;
  const ownRole = ["role:read", "member:read", "job:submit"];
  await api.call("CreateRole", { body: { name: "of-its-own", permissions: ownRole } });
  const newMember = async (kind: MatrixCaller["kind"], ...roles: string[]): Promise<MatrixCaller> => {
    const { userId, token } = await service.newMember(organization, roles);
    const may = permissionsOfRoles(roles, roles.includes("of-its-own") ? ownRole : []);
    const name = `a member with ${roles.join(" and ")}`;
    return { kind, name, token, userId, roles, may, mayOutside: signedInPermissions };
  };
  const builtIn = [...builtInRoles.keys()].filter((role) => role !== "owner");
  const stranger = await service.newUser();
  return [
    ownerAs(owner),
    {
      kind: "user",
      name: "a member of nothing",
      ...stranger,
      roles: [],
      may: new Set(),
      mayOutside: signedInPermissions,
    },
    ...(await Promise.all(builtIn.map((role) => newMember("built-in role", role)))),
    await newMember("own role", "of-its-own"),
    await newMember("several roles", "ci", "of-its-own"),
    await newMember("several roles", "viewer", "operator"),
  ];
}

function ownerAs({ token, userId }: World["organization"]["owner"]): MatrixCaller {
  const may = new Set(grantablePermissions);
  return { kind: "owner", name: "the owner", token, userId, roles: ["owner"], may, mayOutside: signedInPermissions };
}
