export const rateLimits = {
  title: "Rate limits",
  text: "Requests in this minute, by whom they are counted for. A request that costs the service much counts for more than one. Whoever is over a limit is answered 429 until the minute is over.",
  scopes: { organization: "The whole organization", token: "This API token", user: "You, in this organization" },
  policies: { requests: "Requests", submits: "Submitted jobs" },
  of: (used: number, limit: number) => `${used.toLocaleString("en")} of ${limit.toLocaleString("en")} per minute`,
  unlimited: (used: number) => `${used.toLocaleString("en")}, without a limit`,
  resets: "The next minute begins",
} as const;

export const limits = {
  title: "Limits",
  text: "How many of each thing this organization may have. At a limit nothing more of its kind is made or admitted. Memory for compiled definitions is an exception: those that were used longest ago make room. The operator of the service sets the limits, for all or for this organization alone.",
  names: {
    apiTokens: "API tokens",
    oauthClients: "Applications",
    members: "Members and open invitations",
    openInvitations: "Open invitations",
    roles: "Own roles",
    workflows: "Workflows",
    versionsPerWorkflow: "Versions",
    tagsPerWorkflow: "Tags",
    waitingRequests: "Waiting requests and streams",
    storedMb: "Stored megabytes",
    planMemoryMb: "Memory for compiled definitions, in megabytes",
  },
  scopes: {
    organization: "in the whole organization",
    workflow: "in the workflow that has most",
    node: "on the node that answered",
  },
  of: (used: number, limit: number) => `${used.toLocaleString("en")} of ${limit.toLocaleString("en")}`,
  own: "(set for this organization)",
  accountNames: { organizations: "Organizations that you created", userTokens: "User tokens" },
  account: "of your account",
  ownAccount: "(set for your account)",
  nearlyUsed: "nearly used up",
  usedUp: "used up",
} as const;
