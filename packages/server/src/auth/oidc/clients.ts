import type { ClientMetadata } from "oidc-provider";

/** The service's own clients. Neither of the two can keep a secret: one is a page, and the other is the command line on everybody's machine. */
export const dashboardClientId = "stepwell-dashboard";
export const commandLineClientId = "stepwell-cli";
export const clientIds: readonly string[] = [dashboardClientId, commandLineClientId];

/** Metadata of every client: the service's own and those of organizations. */
export const sharedMetadata = {
  token_endpoint_auth_method: "none",
  id_token_signed_response_alg: "RS256",
  response_modes: ["query"],
} as const;

/** `extraRedirectUris` are the addresses of a dashboard under development. */
export function clientsOf(baseUrl: string, extraRedirectUris: readonly string[]): ClientMetadata[] {
  const dashboardUris = [`${baseUrl}/`, `${baseUrl}/signed-in`, ...extraRedirectUris];
  return [
    {
      ...sharedMetadata,
      client_id: dashboardClientId,
      client_name: "Stepwell dashboard",
      application_type: "web",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      redirect_uris: dashboardUris,
      post_logout_redirect_uris: [`${baseUrl}/`, ...extraRedirectUris.map((uri) => `${new URL(uri).origin}/`)],
    },
    {
      ...sharedMetadata,
      client_id: commandLineClientId,
      client_name: "Stepwell command line",
      application_type: "native",
      grant_types: [deviceGrantType, "refresh_token"],
      response_types: [],
      redirect_uris: [],
    },
  ];
}

export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

/** Returns the origins to which a sign-in or a sign-out may lead back. */
export function clientOrigins(clients: readonly ClientMetadata[]): string[] {
  return originsOf(
    clients.flatMap((client) => [...(client.redirect_uris ?? []), ...(client.post_logout_redirect_uris ?? [])]),
  );
}

export function originsOf(uris: readonly string[]): string[] {
  return [...new Set(uris.map((uri) => new URL(uri).origin))];
}
