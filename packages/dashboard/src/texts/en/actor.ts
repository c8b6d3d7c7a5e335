export const actor = {
  you: "you",
  user: (id: string) => `user ${id}`,
  apiToken: (id: string) => `API token ${id}`,
  service: (_id: string) => "the service",
} as const;
