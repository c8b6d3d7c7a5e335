export const rateLimits = {
  title: "Rate limits",
  text: "The requests in this minute, counted for the organization and for you. An expensive request counts as several requests. When a limit is reached, further requests are answered with 429 until the minute ends.",
  scopes: {
    organization: "by the whole organization",
    token: "by this API token",
    user: "by you, in this organization",
  },
  policies: { requests: "Requests", submits: "Submitted jobs" },
  of: (used: number, limit: number) => `${used.toLocaleString("en")} of ${limit.toLocaleString("en")} per minute`,
  unlimited: (used: number) => `${used.toLocaleString("en")}, without a limit`,
  resets: "The next minute begins",
} as const;

export const limits = {
  title: "Limits",
  text: "How many of each thing this organization may have. When a limit is reached, requests for more are rejected. The memory for compiled definitions is an exception: definitions that were used longest ago are removed from memory. The operator of the service sets the limits, for all organizations or only for this one.",
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
    workflow: "in the workflow that has the most",
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
