import type { ApiToken, ApiTokenChange, ApiTokenWish } from "../../../api/api-tokens.ts";
import type { GrantablePermission } from "../../../document.ts";
import { type ExpiryDays, expiryIn } from "../../../parts/controls/ExpiryChoice.tsx";

/** A token as its form holds it. If the chosen kind of bound does not use a field, the field is kept, in case the user changes the kind back. */
export interface TokenDraft {
  readonly name: string;
  readonly permissions: readonly GrantablePermission[];
  readonly expiry: ExpiryDays;
  readonly bound: BoundKind;
  readonly workflowIds: readonly string[];
  /** The tags, with spaces between them. */
  readonly tags: string;
  readonly jobId: string;
  readonly eventId: string;
}

export type BoundKind = "nothing" | "part" | "event";
type BoundTo = NonNullable<ApiToken["boundTo"]>;

const unbound = { bound: "nothing", workflowIds: [], tags: "", jobId: "", eventId: "" } as const;

export const newDraft: TokenDraft = { name: "", permissions: [], expiry: "90", ...unbound };

export function draftOf({ name, permissions, boundTo }: ApiToken): TokenDraft {
  return { name, permissions: permissions as GrantablePermission[], expiry: "kept", ...boundDraft(boundTo) };
}

function boundDraft(boundTo: ApiToken["boundTo"]): Omit<TokenDraft, "name" | "permissions" | "expiry"> {
  if (boundTo === undefined) return unbound;
  const { workflowIds = [], tags = [], jobEvent } = boundTo;
  if (jobEvent !== undefined) return { ...unbound, bound: "event", ...jobEvent };
  return { ...unbound, bound: "part", workflowIds, tags: tags.join(" ") };
}

/** Returns what is missing before the draft can be sent. */
export function missingIn(draft: TokenDraft): "permissions" | "bound" | undefined {
  if (draft.bound !== "event" && draft.permissions.length === 0) return "permissions";
  return draft.bound === "part" && draft.workflowIds.length === 0 && tagsOf(draft).length === 0 ? "bound" : undefined;
}

export function wishOf(draft: TokenDraft): ApiTokenWish {
  const boundTo = boundOf(draft);
  return {
    name: draft.name.trim(),
    permissions: permissionsOf(draft),
    ...expiryIn(draft.expiry),
    ...(boundTo !== undefined && { boundTo }),
  };
}

/**
 * Returns only the fields that differ; undefined if none does. An unchanged bound is not sent, since it may name a workflow that no longer exists.
 */
export function changeOf(token: ApiToken, draft: TokenDraft): ApiTokenChange | undefined {
  const name = draft.name.trim();
  const permissions = permissionsOf(draft);
  const boundTo = boundOf(draft);
  const change: ApiTokenChange = {
    ...(name !== token.name && { name }),
    ...(!isSame([...permissions].sort(), [...token.permissions].sort()) && { permissions }),
    ...expiryIn(draft.expiry),
    ...(!isSame(boundTo, boundOf(draftOf(token))) && { boundTo: boundTo ?? null }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** A token for one event has only the permission to send it. */
function permissionsOf({ bound, permissions }: TokenDraft): GrantablePermission[] {
  return bound === "event" ? ["job:event:send"] : [...permissions];
}

function boundOf(draft: TokenDraft): BoundTo | undefined {
  const { bound, workflowIds, jobId, eventId } = draft;
  if (bound === "nothing") return undefined;
  if (bound === "event") return { jobEvent: { jobId: jobId.trim(), eventId } };
  const tags = tagsOf(draft);
  return {
    ...(workflowIds.length > 0 && { workflowIds: [...workflowIds] }),
    ...(tags.length > 0 && { tags }),
  };
}

function tagsOf({ tags }: TokenDraft): string[] {
  return [...new Set(tags.split(/[\s,]+/).filter((tag) => tag !== ""))];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
