import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, type IdempotencyHeader, resultOf } from "./api.ts";

export type Invitation = Schemas["Invitation"];

const path = "/organizations/{organizationId}/invitations" as const;

export function invitationsQueryKey(organizationId: string) {
  return ["organizations", organizationId, "invitations"] as const;
}

export function invitationsQuery(organizationId: string) {
  return infiniteQueryOptions({
    queryKey: invitationsQueryKey(organizationId),
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      return await resultOf(api.GET(path, { params: { path: { organizationId }, query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

interface InvitationWish {
  readonly roles: string[];
  readonly email?: string;
  readonly expiresAt?: string;
}

/** Only this answer has the link. */
export async function createInvitation(organizationId: string, body: InvitationWish) {
  return await resultOf(api.POST(path, { params: { path: { organizationId } }, body }));
}

export async function revokeInvitation(organizationId: string, invitationId: string) {
  await resultOf(api.DELETE(`${path}/{invitationId}`, { params: { path: { organizationId, invitationId } } }));
}

/** `code` is the end of the invitation's link. */
export async function acceptInvitation(code: string, header: IdempotencyHeader) {
  return await resultOf(api.POST("/invitations/accept", { params: { header }, body: { invitation: code } }));
}
