import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, ifStill, resultOf } from "./api.ts";

export type Member = Schemas["Member"];

const path = "/organizations/{organizationId}/members" as const;
const memberPath = "/organizations/{organizationId}/members/{userId}" as const;

interface MemberKey {
  readonly organizationId: string;
  readonly userId: string;
}

export function membersQueryKey(organizationId: string) {
  return ["organizations", organizationId, "members"] as const;
}

/** The ids and names of the first 200 members. Few organizations have more members. */
export function memberNamesQuery(organizationId: string) {
  return queryOptions({
    queryKey: [...membersQueryKey(organizationId), "names"],
    queryFn: async ({ signal }) => {
      const params = { path: { organizationId }, query: { pageSize: 200 } };
      const { members } = await resultOf(api.GET(path, { params, signal }));
      return new Map(members.map(({ userId, displayName }) => [userId, displayName]));
    },
    staleTime: 60_000,
  });
}

export function membersQuery(organizationId: string) {
  return infiniteQueryOptions({
    queryKey: [...membersQueryKey(organizationId), "list"],
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(api.GET(path, { params: { path: { organizationId }, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

/** Replaces the roles of the member if they are still as they were shown. */
export async function updateMember(organizationId: string, shown: Member, roles: readonly string[]) {
  const path = { organizationId, userId: shown.userId };
  const isAsShown = (present: Member) => meaningOf(present) === meaningOf(shown);
  const header = await ifStill(api.GET(memberPath, { params: { path } }), isAsShown);
  return await resultOf(api.PATCH(memberPath, { params: { path, header }, body: { roles: [...roles] } }));
}

function meaningOf({ roles }: Member): string {
  return JSON.stringify([...roles].sort());
}

/** One member, with the number of API tokens that this member made and that are not revoked. */
export function memberQuery({ organizationId, userId }: MemberKey) {
  return queryOptions({
    queryKey: [...membersQueryKey(organizationId), "one", userId],
    queryFn: async ({ signal }) =>
      await resultOf(api.GET(memberPath, { params: { path: { organizationId, userId } }, signal })),
  });
}

export async function removeMember(key: MemberKey, query: { readonly revokeApiTokens: boolean }) {
  await resultOf(api.DELETE(memberPath, { params: { path: key, query } }));
}

export async function leaveOrganization(organizationId: string) {
  await resultOf(api.POST(`${path}/me/leave`, { params: { path: { organizationId } } }));
}

/** Only this answer has the link. */
export async function createPasswordLink(key: MemberKey) {
  return await resultOf(api.POST(`${memberPath}/password-link`, { params: { path: key } }));
}
