/** The places in the documentation to which the dashboard links. A test follows each link. */
export const docsAddresses = {
  index: "/docs",
  home: "/docs/dashboard#the-pages",
  workflows: "/docs/concepts#what-you-define",
  workflow: "/docs/tutorial#deploy-it-and-submit-a-job",
  version: "/docs/definitions#a-whole-definition",
  editor: "/docs/definitions",
  tagHistory: "/docs/tutorial#put-a-new-version-into-service",
  jobs: "/docs/concepts#what-runs",
  job: "/docs/dashboard#a-job",
  explanation: "/docs/troubleshooting#a-job-does-not-go-on",
  taskQueues: "/docs/operations#workers-and-queues",
  apiTokens: "/docs/http-api#narrow-tokens",
  members: "/docs/http-api#members-roles-invitations",
  invitations: "/docs/http-api#members-roles-invitations",
  roles: "/docs/http-api#permissions",
  oauthClients: "/docs/http-api#oauth-clients-of-an-organization",
  signInProviders: "/docs/single-sign-on",
  audit: "/docs/http-api#the-audit-trail",
  limits: "/docs/limits#an-organization",
  account: "/docs/http-api#your-account",
} as const;

export type DocsPlace = keyof typeof docsAddresses;
