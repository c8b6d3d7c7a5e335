import { integer } from "./setting.ts";

/** The settings that say how many of each thing one organization or one account may have; part of `settings`. */
export const countSettings = {
  maxApiTokens: integer(
    "STEPWELL_MAX_API_TOKENS",
    1_000,
    0,
    1_000_000,
    "The maximum number of API tokens in one organization. Revoked tokens do not count. Expired tokens count, because their end can be moved. A program that creates a token for each run reaches the default within days.",
  ),
  maxOAuthClients: integer(
    "STEPWELL_MAX_OAUTH_CLIENTS",
    50,
    0,
    10_000,
    "The maximum number of OAuth clients in one organization. The default is more than people can keep apart.",
  ),
  maxMembers: integer(
    "STEPWELL_MAX_MEMBERS",
    5_000,
    1,
    1_000_000,
    "The maximum number of members in one organization. Each invitation counts as a member while it can still be accepted, so that everybody who is invited can join.",
  ),
  maxOpenInvitations: integer(
    "STEPWELL_MAX_OPEN_INVITATIONS",
    1_000,
    1,
    1_000_000,
    "The maximum number of invitations of one organization that can still be accepted. Each of them gives access to the organization, and nobody can keep track of more than the default.",
  ),
  maxRoles: integer(
    "STEPWELL_MAX_ROLES",
    100,
    0,
    10_000,
    "The maximum number of roles that one organization creates itself. The default is more than people can keep apart.",
  ),
  maxWorkflows: integer(
    "STEPWELL_MAX_WORKFLOWS",
    5_000,
    0,
    1_000_000,
    "The maximum number of workflows in one organization. Deleted workflows do not count. A program that registers a workflow for each job reaches the default.",
  ),
  maxVersionsPerWorkflow: integer(
    "STEPWELL_MAX_VERSIONS_PER_WORKFLOW",
    10_000,
    1,
    1_000_000,
    "The maximum number of versions of one workflow. Versions are never deleted. Ten new versions a day reach the default after almost three years. A deployment that changes nothing registers no version (`ifChanged`).",
  ),
  maxTagsPerWorkflow: integer(
    "STEPWELL_MAX_TAGS_PER_WORKFLOW",
    1_000,
    1,
    1_000_000,
    "The maximum number of tags of one workflow. The default is the number of tags that ListTags returns in one answer.",
  ),
  maxWaitingRequestsPerOrganization: integer(
    "STEPWELL_MAX_WAITING_REQUESTS_PER_ORGANIZATION",
    5_000,
    1,
    1_000_000,
    "The maximum number of requests and streams of one organization that wait on this node at the same time.",
  ),
  maxStoredMb: integer(
    "STEPWELL_MAX_STORED_MB",
    100_000,
    1,
    1_000_000_000,
    "How much the jobs and versions of one organization may store, in MB: inputs, events, outputs, histories and definitions. The sum is approximate: it is counted while data is written, and does not include indexes. When the maximum is reached, new jobs and versions are rejected, and running jobs continue. The service notices this some seconds late, so an organization can exceed the maximum a little.",
  ),
  maxOrganizationsPerAccount: integer(
    "STEPWELL_MAX_ORGANIZATIONS_PER_ACCOUNT",
    10,
    0,
    1_000_000,
    "The maximum number of organizations that one account may create. Deleted organizations do not count. With 0, only accounts with a maximum of their own (`stepwell user organizations`) may create organizations. If this number were not limited, a person could avoid the limits of an organization by creating more organizations.",
  ),
  maxUserTokens: integer(
    "STEPWELL_MAX_USER_TOKENS",
    50,
    1,
    10_000,
    "The maximum number of valid user tokens of one account. Each of them can do everything that the person can, and nobody can keep track of more than the default.",
  ),
} as const;

/**
 * The maximums that the operator can also set for one organization alone, with the setting that holds for all other organizations. The API, the
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

/** The maximums that are checked by counting rows of the store before another row is added. */
export type CountedName = Exclude<MaximumName, "waitingRequests" | "storedMb">;

export interface Maximum {
  readonly name: MaximumName;
  readonly maximum: number;
  /** True if the operator set it for this organization alone. */
  readonly isOwn: boolean;
}

/** Returns the maximum that the operator set for an organization (`own`), or else the configuration's. */
export function maximumOf(
  config: Readonly<Record<(typeof maximumSettings)[MaximumName], number>>,
  own: Readonly<Record<string, number>>,
  name: MaximumName,
): Maximum {
  return { name, maximum: own[name] ?? config[maximumSettings[name]], isOwn: own[name] !== undefined };
}
