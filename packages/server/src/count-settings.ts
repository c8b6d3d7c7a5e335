import { integer } from "./setting.ts";

/** The settings that say how many of each thing one organization or one account may have; part of `settings`. */
export const countSettings = {
  maxApiTokens: integer(
    "STEPWELL_MAX_API_TOKENS",
    1_000,
    0,
    1_000_000,
    "API tokens of one organization, except revoked ones. Expired tokens count, since their expiry can be moved. Programs that make a token for each run reach it within days.",
  ),
  maxOAuthClients: integer(
    "STEPWELL_MAX_OAUTH_CLIENTS",
    50,
    0,
    10_000,
    "OAuth clients of one organization: more applications than people can tell apart, and a list that stays short.",
  ),
  maxMembers: integer(
    "STEPWELL_MAX_MEMBERS",
    5_000,
    1,
    1_000_000,
    "Members of one organization, together with the invitations that can still be accepted: whoever is invited finds a place.",
  ),
  maxOpenInvitations: integer(
    "STEPWELL_MAX_OPEN_INVITATIONS",
    1_000,
    1,
    1_000_000,
    "Invitations of one organization that can still be accepted: each is a key to it, and nobody watches over more.",
  ),
  maxRoles: integer(
    "STEPWELL_MAX_ROLES",
    100,
    0,
    10_000,
    "Roles that one organization makes itself: more than people can tell apart, and a list that stays short.",
  ),
  maxWorkflows: integer(
    "STEPWELL_MAX_WORKFLOWS",
    5_000,
    0,
    1_000_000,
    "Workflows of one organization, except deleted ones. A program that registers a workflow for each job reaches it.",
  ),
  maxVersionsPerWorkflow: integer(
    "STEPWELL_MAX_VERSIONS_PER_WORKFLOW",
    10_000,
    1,
    1_000_000,
    "Versions of one workflow, none of which is ever deleted. Ten new ones a day reach it after three years; a deployment that changes nothing registers none (`ifChanged`).",
  ),
  maxTagsPerWorkflow: integer(
    "STEPWELL_MAX_TAGS_PER_WORKFLOW",
    1_000,
    1,
    1_000_000,
    "Tags of one workflow: a list answers as many at once.",
  ),
  maxWaitingRequestsPerOrganization: integer(
    "STEPWELL_MAX_WAITING_REQUESTS_PER_ORGANIZATION",
    5_000,
    1,
    1_000_000,
    "Requests and streams of one organization that wait on this node at once.",
  ),
  maxStoredMb: integer(
    "STEPWELL_MAX_STORED_MB",
    100_000,
    1,
    1_000_000_000,
    "Megabytes that the jobs and the versions of one organization store, about: inputs, events, outputs, histories and definitions, counted as they are written, without indexes. Beyond it new jobs and versions are rejected, and jobs under way go on. An organization may go beyond it for some seconds.",
  ),
  maxOrganizationsPerAccount: integer(
    "STEPWELL_MAX_ORGANIZATIONS_PER_ACCOUNT",
    10,
    0,
    1_000_000,
    "Organizations that one account may create, except deleted ones; 0: nobody may but those accounts for which the operator set another maximum (`stepwell user organizations`). Each organization has limits of its own, so without this maximum a person could multiply all others.",
  ),
  maxUserTokens: integer(
    "STEPWELL_MAX_USER_TOKENS",
    50,
    1,
    10_000,
    "User tokens of one account that hold at once: each can do all that the person can, and nobody watches over more.",
  ),
} as const;

/**
 * The maximums that the operator can also set for one organization alone, and the setting that holds for the other organizations. The API, the
 * dashboard and `stepwell org limits` use these names.
 */
export const maximumSettings = {
  apiTokens: "maxApiTokens",
  oauthClients: "maxOAuthClients",
  members: "maxMembers",
  openInvitations: "maxOpenInvitations",
  roles: "maxRoles",
  workflows: "maxWorkflows",
  versionsPerWorkflow: "maxVersionsPerWorkflow",
  tagsPerWorkflow: "maxTagsPerWorkflow",
  waitingRequests: "maxWaitingRequestsPerOrganization",
  storedMb: "maxStoredMb",
} as const satisfies Record<string, keyof typeof countSettings>;

export type MaximumName = keyof typeof maximumSettings;

export const maximumNames = Object.keys(maximumSettings) as MaximumName[];

/** The maximums of things that are counted in the store when one is made. */
export type CountedName = Exclude<MaximumName, "waitingRequests" | "storedMb">;

/** One maximum of an organization. */
export interface Maximum {
  readonly name: MaximumName;
  readonly maximum: number;
  /** True where the operator set it for this organization alone. */
  readonly isOwn: boolean;
}

/** Answers the maximum that the operator set for an organization (`own`), or else the configuration's. */
export function maximumOf(
  config: Readonly<Record<(typeof maximumSettings)[MaximumName], number>>,
  own: Readonly<Record<string, number>>,
  name: MaximumName,
): Maximum {
  return { name, maximum: own[name] ?? config[maximumSettings[name]], isOwn: own[name] !== undefined };
}
