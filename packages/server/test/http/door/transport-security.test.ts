import { exchange, open, readAll, requestText, statusOf } from "@stepwell/testing/raw.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";

const close = "Connection: close";
const json = "Content-Type: application/json";
const form = "Content-Type: application/x-www-form-urlencoded";
const origin = "Origin: https://app.example";
const get = (path: string, ...lines: string[]) => requestText(`GET ${path}`, [close, ...lines]);
const signIn = new URLSearchParams({
  client_id: "stepwell-dashboard",
  response_type: "code",
  scope: "openid",
  redirect_uri: "https://stepwell.example/signed-in",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
});

/** The requests cover every kind of answer. */
const answers: readonly (readonly [name: string, status: number, request: string])[] = [
  ["an operation", 200, get("/health/ready")],
  ["HEAD", 200, requestText("HEAD /health/ready", [close])],
  ["HTTP/1.0", 200, "GET /health/live HTTP/1.0\r\n\r\n"],
  ["the document", 200, get("/openapi.json")],
  ["the dashboard", 200, get("/")],
  ["a file of the dashboard that is not there", 404, get("/assets/none.js")],
  ["a page for a link", 404, get("/invitations/none")],
  ["a preflight", 204, requestText("OPTIONS /organizations", [close, origin, "Access-Control-Request-Method: POST"])],
  ["no credential", 401, get("/organizations")],
  ["no such path", 404, get("/nothing")],
  ["no such method", 405, requestText("DELETE /organizations", [close])],
  ["a path that cannot be read", 400, get("/organizations/%zz")],
  ["two Host headers", 400, get("/health/live", "Host: elsewhere")],
  ["no Host header", 400, `GET /health/live HTTP/1.1\r\n${close}\r\n\r\n`],
  ["an unsupported expectation", 417, get("/health/live", "Expect: a miracle")],
  ["bytes that are no HTTP", 400, "nonsense\r\n\r\n"],
  ["headers that are too large", 431, get("/", `X-Large: ${"x".repeat(65_536)}`)],
  ["discovery", 200, get("/oidc/.well-known/openid-configuration")],
  ["the start of a sign-in, a redirect", 303, get(`/oidc/auth?${signIn}`)],
  ["a sign-in that is not there", 400, get("/oidc/sign-in/none")],
  ["an endpoint that is not there", 404, get("/oidc/none")],
  ["a token that is refused", 400, requestText("POST /oidc/token", [close, form], "grant_type=nothing")],
  ["a body that is too large", 413, requestText("POST /oidc/token", [close, form], `a=${"x".repeat(200_000)}`)],
  ["a body that is no JSON", 401, requestText("POST /organizations", [close, json], "{")],
];

onOneStore((home) => {
  describe("where clients reach the service by https", () => {
    const service = useService(home, {
      STEPWELL_BASE_URL: "https://stepwell.example",
      STEPWELL_CORS_ORIGINS: "https://app.example",
      STEPWELL_HEADERS_TIMEOUT_MS: "1000",
    });

    test.each(answers)("%s (%i) keeps browsers on https", async (_name, status, request) => {
      const answer = await exchange(service.port, request);
      expect(statusOf(answer), answer).toBe(status);
      const [head = ""] = answer.split("\r\n\r\n");
      expect(head.match(/^strict-transport-security: max-age=31536000$/gim)).toHaveLength(1);
      expect(head).toMatch(/^x-content-type-options: nosniff$/im);
    });

    test("headers that arrive too slowly (408) keep browsers on https", async () => {
      const slow = await open(service.port);
      slow.write("GET /health/live HTTP/1.1\r\nHost:");
      const answer = await readAll(slow, 5_000);
      expect(statusOf(answer)).toBe(408);
      expect(answer).toMatch(/^strict-transport-security: max-age=31536000$/im);
    });
  });

  describe("where clients reach the service by http", () => {
    const service = useService(home);

    test.each(answers.filter(([name]) => !/preflight|sign-in/.test(name)))(
      "%s does not mention https, whatever the request's headers say",
      async (_name, status, request) => {
        const answer = await exchange(service.port, request.replace("\r\n", "\r\nX-Forwarded-Proto: https\r\n"));
        expect(answer).not.toMatch(/strict-transport-security/i);
        if (status !== 400) expect(statusOf(answer), answer).toBe(status);
      },
    );
  });
});
