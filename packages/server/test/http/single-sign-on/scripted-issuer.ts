import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, type JWTPayload, SignJWT } from "jose";

/** The reaction of the token endpoint or the userinfo endpoint to a request. */
export type Script = (response: ServerResponse) => void | Promise<void>;

/** An issuer that a test can make misbehave. */
export class ScriptedIssuer {
  /** The nonce that the last request to sign in carried. */
  nonce = "";
  token: Script = () => {};
  userInfo: Script = (response) => this.json(response, {});
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #key = generateKeyPairSync("rsa", { modulusLength: 2_048 });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes an id token as this issuer should, with these changes. A claim whose value is undefined is left out. */
  async idToken(
    changes: Readonly<Record<string, unknown>> = {},
    key: KeyObject = this.#key.privateKey,
  ): Promise<string> {
    return await new SignJWT(this.claims(changes) as JWTPayload)
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .sign(key);
  }

  claims(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: this.issuer, aud: "us", sub: "somebody", iat: now, exp: now + 60, nonce: this.nonce };
    const claims = { ...usual, email: "somebody@scripted.test", email_verified: true, ...changes };
    return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
  }

  json(response: ServerResponse, body: unknown, status = 200): void {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  /** Writes a proper answer of the token endpoint, with this id token. */
  tokens(response: ServerResponse, idToken: unknown): void {
    this.json(response, { access_token: "a", token_type: "Bearer", expires_in: 60, id_token: idToken });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", this.issuer);
    if (pathname === "/auth") {
      this.nonce = searchParams.get("nonce") ?? "";
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("code", "c");
      back.searchParams.set("state", searchParams.get("state") ?? "");
      response.writeHead(302, { location: back.href }).end();
    } else if (pathname === "/token") await this.token(response);
    else if (pathname === "/me") await this.userInfo(response);
    else if (pathname === "/keys") {
      const key = { ...(await exportJWK(this.#key.publicKey)), kid: "k", alg: "RS256" };
      this.json(response, { keys: [key] });
    } else this.json(response, this.#metadata());
  }

  #metadata(): object {
    const to = (path: string) => `${this.issuer}/${path}`;
    return {
      issuer: this.issuer,
      authorization_endpoint: to("auth"),
      token_endpoint: to("token"),
      userinfo_endpoint: to("me"),
      jwks_uri: to("keys"),
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
  }
}
