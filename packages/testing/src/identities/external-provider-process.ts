import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { flushCompileCache } from "node:module";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import type { ProviderCommand, ProviderReady, ProviderSettings } from "./external-provider.ts";

/**
 * An OpenID provider that is independent of the service's own, in a process of its own. It asks for no password: a person signs in with the login
 * alone.
 */
const settings = JSON.parse(process.argv[2] ?? "{}") as ProviderSettings;
const accounts = new Map<string, Record<string, unknown>>();
const requests: string[] = [];

async function newKey(algorithm: string, keyId: string) {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: algorithm, kid: keyId, use: "sig" };
  return { privateKey, jwk };
}

const keys = {
  RS256: await newKey("RS256", "rsa-1"),
  ES256: await newKey("ES256", "ec-1"),
};

const server = createServer((request, response) => {
  requests.push(`${request.method} ${new URL(request.url ?? "", "http://x").pathname}`);
  void serve(request, response);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const provider = new Provider(issuer, {
  jwks: { keys: Object.values(keys).map(({ jwk }) => jwk) },
  clients: settings.clients.map((client) => ({
    client_id: client.clientId,
    ...(client.clientSecret === undefined
      ? { token_endpoint_auth_method: "none" as const }
      : { client_secret: client.clientSecret }),
    redirect_uris: [...client.redirectUris],
    response_types: ["code" as const],
    grant_types: ["authorization_code"],
    id_token_signed_response_alg: settings.algorithm,
  })),
  claims: { openid: ["sub"], email: ["email", "email_verified", "groups", "name"] },
  conformIdTokenClaims: settings.claimsInUserInfo,
  enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256"] },
  features: { devInteractions: { enabled: false } },
  cookies: { keys: ["a key of the test"] },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_ctx, id) => {
    const claims = accounts.get(id);
    return claims === undefined ? undefined : { accountId: id, claims: () => ({ sub: id, ...claims }) };
  },
  async loadExistingGrant({ oidc: { provider: own, client, session } }) {
    const accountId = session?.accountId;
    if (client === undefined || accountId === undefined) return undefined;
    const grant = new own.Grant({ clientId: client.clientId, accountId });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
});
const callback = provider.callback();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.startsWith("/interaction/") !== true) return await callback(request, response);
  if (request.method === "GET") {
    const { params } = await provider.interactionDetails(request, response);
    response.setHeader("content-type", "text/html");
    response.end(`<form method="post" action="${request.url}"><input name="login" value="${params.login_hint ?? ""}">
<button name="deny" value=""></button></form>`);
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
  const login = form.get("login") ?? "";
  const result = accounts.has(login)
    ? { login: { accountId: login } }
    : { error: "access_denied", error_description: "Nobody" };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

process.on("message", async (command: ProviderCommand) => {
  process.send?.(await obey(command));
});

async function obey(command: ProviderCommand): Promise<object> {
  switch (command.type) {
    case "account":
      accounts.set(command.login, command.claims);
      return {};
    case "sign": {
      const header = { alg: "RS256", kid: "rsa-1", ...command.header } as JWTHeaderParameters;
      const { privateKey } = header.alg === "ES256" ? keys.ES256 : keys.RS256;
      return {
        token: await new SignJWT({ iss: issuer, ...command.claims }).setProtectedHeader(header).sign(privateKey),
      };
    }
    case "requests":
      return { requests: requests.splice(0) };
  }
}

const { n = "", e = "" } = keys.RS256.jwk;
process.send?.({ issuer, publicKey: { kty: "RSA", n, e } } satisfies ProviderReady);
// The cache of compiled code is written now, since a process that is killed does not write it.
flushCompileCache();
process.once("disconnect", () => process.exit());
