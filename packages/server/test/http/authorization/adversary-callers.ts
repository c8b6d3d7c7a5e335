import { storeToken } from "@stepwell/testing/identities/stored-token.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import type { TestService } from "@stepwell/testing/service.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import {
  grantablePermissions,
  permissionsOfRoles,
  signedInPermissions,
} from "../../../src/auth/permissions/permissions.ts";
import { removePassword, setDisabled } from "../../../src/store/people/user-credentials.ts";
import { buildCallers } from "./authorization-callers.ts";
import type { MatrixCaller, World } from "./authorization-rows.ts";

/**
 * Makes all callers of the authorization matrix, and further ones: strangers whose credential is wrong or has ended, tokens with bounds, members who
 * have just signed in, and people outside of the organization.
 */
export async function buildAdversaries(service: TestService, own: World): Promise<readonly MatrixCaller[]> {
  const parts = [buildCallers, moreStrangers, boundTokens, sessions, outsiders];
  const callers: MatrixCaller[] = [];
  for (const build of parts) callers.push(...(await build(service, own)));
  return callers;
}

const stranger = { kind: "stranger", may: undefined } as const;
const outside = { mayOutside: signedInPermissions };

async function moreStrangers(service: TestService, { organization }: World): Promise<MatrixCaller[]> {
  const { api } = organization;
  const { body: rotated } = await api.call<{ tokenId: string; token: string }>("CreateApiToken", {
    body: { name: "rotated", permissions: grantablePermissions },
  });
  await api.call("RotateApiToken", { params: { tokenId: rotated.tokenId }, body: { overlapSeconds: 0 } });
  const disabled = await service.newMember(organization, ["owner"]);
  await setDisabled(service.running.database, disabled.userId, service.running.engine.now());
  const ended = await signedInAs(service, organization, "owner");
  const session = service.client(ended.token);
  const { sessions: own } = (await session.call<{ sessions: { sessionId: string }[] }>("ListSessions")).body;
  for (const { sessionId } of own) await session.call("EndSession", { params: { sessionId } });
  return [
    { ...stranger, name: "a mistyped token", token: `${rotated.token.slice(0, -1)}_` },
    { ...stranger, name: "a secret that was rotated away", token: rotated.token },
    { ...stranger, name: "a disabled user", token: disabled.token },
    { ...stranger, name: "a sign-in that was ended", token: ended.token },
  ];
}

/** These tokens hold every permission, but their bounds exclude nearly everything. */
async function boundTokens(service: TestService, { ids }: World): Promise<MatrixCaller[]> {
  const { workflowId, tag, jobId, organizationId } = ids;
  const bounds = {
    "a workflow": { workflowIds: [workflowId] },
    "a tag": { tags: [tag] },
    "an event": { boundJobId: jobId, boundEventId: "other" },
  };
  return await Promise.all(
    Object.entries(bounds).map(async ([name, bound]): Promise<MatrixCaller> => {
      const { token } = await storeToken(service, organizationId, { permissions: grantablePermissions, ...bound });
      const may = new Set(grantablePermissions);
      return { kind: "bound token", name: `a token that is bound to ${name}`, token, may };
    }),
  );
}

async function sessions(service: TestService, { organization }: World): Promise<MatrixCaller[]> {
  const callers: MatrixCaller[] = [];
  for (const role of ["owner", "operator", "viewer"]) {
    const { userId, token } = await signedInAs(service, organization, role);
    const caller = {
      kind: "session",
      token,
      userId,
      roles: [role],
      may: permissionsOfRoles([role]),
      ...outside,
    } as const;
    callers.push({ ...caller, name: `a signed-in member with ${role}` });
  }
  return callers;
}

/** These people are outside of the organization of all other callers, but know its ids. */
async function outsiders(service: TestService, { organization }: World): Promise<MatrixCaller[]> {
  const removed = await service.newMember(organization, ["owner"]);
  await organization.api.call("RemoveMember", { params: { userId: removed.userId } });
  const { owner } = await service.newOrganization();
  const away = { kind: "outsider", roles: [], may: new Set<never>(), ...outside } as const;
  return [
    { ...away, name: "a member who was removed", ...removed },
    { ...away, name: "the owner of another organization", ...owner },
  ];
}

async function signedInAs(service: TestService, { organizationId }: World["organization"], role: string) {
  const person = await newPerson(service);
  await service.addMember(organizationId, person.userId, [role]);
  const { idToken } = await signIn(service.baseUrl, person);
  // The other people of this test have no password either, so nobody's wrong passwords are counted.
  await removePassword(service.running.database, person.userId, service.running.engine.now());
  return { userId: person.userId, token: idToken };
}
