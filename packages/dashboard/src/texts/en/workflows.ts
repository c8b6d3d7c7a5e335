export const workflows = { title: "Workflows" } as const;
