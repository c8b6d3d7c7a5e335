export const problem = {
  unexpectedTitle: "Unexpected answer",
  unexpected: (status: number) =>
    `Something between this page and the service answered ${status}. Try again; if it stays, look at your proxy.`,
  unreachableTitle: "The service is out of reach",
  unreachable: "It may be restarting, or your network is away. This page tries again by itself.",
  pageTitle: "Something went wrong on this page",
  request: (requestId: string) => `Request ${requestId}`,
  copyRequestId: "Copy the request's id",
  tryAgain: "Try again",
  missingPermission: "Ask an owner of the organization for the permission; Settings show what each role may do.",
} as const;
