import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ProviderFileError, parseProviders, readProviderFile } from "../../src/auth/external/provider-file.ts";
import { readConfig } from "../../src/config.ts";
import { startService } from "../../src/service.ts";

const good = {
  id: "acme",
  name: "Acme",
  issuer: "https://sign-in.acme.test",
  clientId: "stepwell",
  clientSecret: "a secret",
  emailDomains: ["acme.test"],
  organizationId: "0198c0de-0000-7000-8000-00000000ac3e",
  roleClaim: "groups",
  roles: { staff: ["viewer"] },
};
const other = { ...good, id: "globex", issuer: "https://globex.test", emailDomains: ["globex.test"] };
const { id: _id, issuer: _issuer, ...lacking } = good;
const { roleClaim: _roleClaim, roles: _roles, ...roleless } = good;

function problemsOf(document: unknown): string[] {
  const { problems } = parseProviders(JSON.stringify(document), () => "a secret\n");
  return problems.map(({ pointer, detail }) => `${pointer} ${detail}`);
}

const rows: readonly (readonly [string, unknown, readonly (string | RegExp)[]])[] = [
  ["no list", { providers: [] }, [" must be a list of at most 1000 providers"]],
  ["an entry that is no object", ["acme"], ["/0 must be an object"]],
  ["fields that are missing", [lacking], ["/0/id is missing", "/0/issuer is missing"]],
  [
    "a field that is not known",
    [{ ...good, clientID: "x" }],
    ["/0/clientID is not known here; did you mean `clientId`?"],
  ],
  ["an id that cannot stand in an address", [{ ...good, id: "Acme Inc" }], [/^\/0\/id must be 1 to 40 lower-case/]],
  ["an empty name", [{ ...good, name: " " }], [/^\/0\/name must be a text/]],
  ["a name with a line break", [{ ...good, name: "Ac\nme" }], [/^\/0\/name must be a text/]],
  ["an issuer that is no address", [{ ...good, issuer: "acme" }], ["/0/issuer must be an https address"]],
  [
    "an issuer by http",
    [{ ...good, issuer: "http://acme.test" }],
    [/^\/0\/issuer must be an https address: with http/],
  ],
  [
    "an issuer that only looks local",
    [{ ...good, issuer: "http://localhost.acme.test" }],
    [/^\/0\/issuer must be an https/],
  ],
  [
    "an issuer with a password",
    [{ ...good, issuer: "https://a:b@acme.test" }],
    [/^\/0\/issuer must not contain a user/],
  ],
  ["an issuer with a query", [{ ...good, issuer: "https://acme.test/?a=1" }], [/^\/0\/issuer must have neither query/]],
  ["two secrets", [{ ...good, clientSecretFile: "f" }], [/^\/0\/clientSecretFile must not be set together with/]],
  ["scopes without openid", [{ ...good, scopes: ["email"] }], ["/0/scopes must name `openid`"]],
  ["a scope of two words", [{ ...good, scopes: ["openid", "a b"] }], [/^\/0\/scopes\/1 must be a scope/]],
  ["no domain", [{ ...good, emailDomains: [] }], [/^\/0\/emailDomains must be a list of 1 to 200/]],
  [
    "something that is no domain",
    [{ ...good, emailDomains: ["@acme.test", "*.acme.test", "test"] }],
    [
      /^\/0\/emailDomains\/0 must be a domain/,
      /^\/0\/emailDomains\/1 must be a domain/,
      /^\/0\/emailDomains\/2 must be a domain/,
    ],
  ],
  [
    "a domain twice",
    [{ ...good, emailDomains: ["acme.test", "ACME.test"] }],
    ["/0/emailDomains/1 is taken: /0 has it already"],
  ],
  [
    "a domain of two providers",
    [good, { ...other, emailDomains: ["Acme.Test"] }],
    ["/1/emailDomains/0 is taken: /0 has it already"],
  ],
  ["an id of two providers", [good, { ...other, id: "acme" }], ["/1/id is taken: /0 has it already"]],
  [
    "an organization that is no id",
    [{ ...good, organizationId: "acme" }],
    ["/0/organizationId must be an organization's id"],
  ],
  ["roles without a claim", [{ ...roleless, roles: good.roles }], [/^\/0\/roleClaim is missing/]],
  [
    "a claim without roles",
    [{ ...roleless, roleClaim: "groups" }],
    [/^\/0\/roles is missing/, /^\/0\/defaultRoles is missing/],
  ],
  ["neither a role claim nor default roles", [roleless], [/^\/0\/defaultRoles is missing/]],
  [
    "an invalid role name",
    [{ ...good, roles: { staff: ["Viewer!"] } }],
    [/^\/0\/roles\/staff\/0 must be the name of a role/],
  ],
  ["an empty list of roles", [{ ...good, defaultRoles: [] }], [/^\/0\/defaultRoles must be a list/]],
  ["a trust that is no boolean", [{ ...good, trustsEmail: "yes" }], ["/0/trustsEmail must be true or false"]],
  ["a bearer without an audience", [{ ...good, bearer: {} }], ["/0/bearer/audience is missing"]],
  [
    "an audience that id tokens have",
    [{ ...good, bearer: { audience: "stepwell" } }],
    [/^\/0\/bearer\/audience must not be a clientId/],
  ],
  [
    "an audience that is the client id of another provider of the same issuer",
    [good, { ...other, issuer: `${good.issuer}/`, clientId: "b", bearer: { audience: "stepwell" } }],
    [/^\/1\/bearer\/audience must not be a clientId/],
  ],
  [
    "an audience of two providers of one issuer",
    [
      { ...good, bearer: { audience: "a" } },
      { ...other, issuer: good.issuer, bearer: { audience: "a" } },
    ],
    ["/1/bearer/audience is taken: /0 has it already"],
  ],
];

test.for(rows)("a file with %s is refused", ([, document, expected]) => {
  expect(problemsOf(document)).toEqual(
    expected.map((each) => (typeof each === "string" ? each : expect.stringMatching(each))),
  );
});

test("every problem is listed at once", () => {
  const problems = problemsOf(Array.from({ length: 20 }, () => ({ ...good, id: "A", name: "", organizationId: 1 })));
  expect(problems).toHaveLength(60);
  expect(
    problemsOf([
      { ...good, id: "A" },
      { ...other, issuer: "http://globex.test" },
    ]),
  ).toHaveLength(2);
});

test("a valid file has the documented defaults for omitted fields", () => {
  const { providers, problems } = parseProviders(
    JSON.stringify([good, { ...other, clientId: "b", bearer: { audience: "stepwell" } }]),
    () => "",
  );
  expect(problems).toEqual([]);
  expect(providers[0]).toMatchObject({
    scopes: ["openid", "email", "profile"],
    trustsEmail: false,
    defaultRoles: [],
    bearerAudience: undefined,
    clientSecret: "a secret",
  });
});

test.for(["http://localhost:3000", "http://127.0.0.1", "http://[::1]:3000/a"])(
  "%s can be an issuer for a trial",
  (issuer) => {
    expect(problemsOf([{ ...good, issuer }])).toEqual([]);
  },
);

test("text that is not JSON is rejected, and no error repeats the text", () => {
  const { problems } = parseProviders('[{"clientSecret": "hush" "id"}]', () => "");
  expect(problems).toHaveLength(1);
  expect(problems[0]?.detail).toMatch(/^is not JSON/);
  expect(JSON.stringify(problems)).not.toContain("hush");
});

function fileWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "stepwell-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "providers.json");
  writeFileSync(path, text);
  return path;
}

test("a secret's file is found relative to the providers' file, and its last line break is not part of the secret", () => {
  const { clientSecret: _, ...secretless } = good;
  const path = fileWith(JSON.stringify([{ ...secretless, clientSecretFile: "acme.secret" }]));
  expect(() => readProviderFile(path)).toThrow(/\/0\/clientSecretFile cannot be read: ENOENT/);
  writeFileSync(join(path, "../acme.secret"), "\n");
  expect(() => readProviderFile(path)).toThrow("/0/clientSecretFile names an empty file");
  writeFileSync(join(path, "../acme.secret"), "hush\n");
  expect(readProviderFile(path)[0]?.clientSecret).toBe("hush");
});

test("the service does not start with a wrong or missing file", async () => {
  const start = (file: string) =>
    startService(
      readConfig({
        STEPWELL_SIGN_IN_PROVIDERS_FILE: file,
        STEPWELL_DATA_DIR: join(fileWith("[]"), ".."),
        STEPWELL_LOG_LEVEL: "silent",
      }),
    );
  await expect(start("/nowhere/providers.json")).rejects.toThrow(/providers\.json\) is not usable: cannot be read/);
  const failed = start(fileWith(JSON.stringify([{ ...good, id: "A" }])));
  await expect(failed).rejects.toThrow(ProviderFileError);
  await expect(failed).rejects.toThrow(/\/0\/id must be/);
});
