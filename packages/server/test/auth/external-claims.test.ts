import { expect, test } from "vitest";
import { readClaims, rolesNamedBy } from "../../src/auth/external/claims.ts";
import { type ExternalProvider, hasDomainOf } from "../../src/auth/external/provider.ts";
import { rolesAfter } from "../../src/management/membership/member-roles.ts";

const provider: ExternalProvider = {
  id: "acme",
  name: "Acme",
  issuer: "https://acme.test",
  clientId: "c",
  clientSecret: undefined,
  scopes: ["openid"],
  emailDomains: ["acme.test", "xn--bcher-kva.example"],
  trustsEmail: false,
  organizationId: "o",
  roleClaim: "groups",
  roles: new Map([
    ["staff", ["viewer"]],
    ["All staff", ["viewer", "ci"]],
    ["builders", ["developer"]],
  ]),
  defaultRoles: [],
  bearerAudience: undefined,
};
const raw = { iss: "https://acme.test", sub: "a" };

const valueRows: readonly (readonly [string, unknown, readonly string[]])[] = [
  ["a text", "staff", ["viewer"]],
  ["a list", ["staff", "builders"], ["developer", "viewer"]],
  ["texts with spaces between", "staff builders", ["developer", "viewer"]],
  ["one value with a space in it", "All staff", ["ci", "viewer"]],
  ["a list with a value with a space in it", ["All staff"], ["ci", "viewer"]],
  ["values that give nothing", ["nothing", "constructor", "__proto__"], []],
  ["things that are no text", [1, null, { a: 1 }, ["staff"]], []],
  ["a number", 7, []],
  ["an object", { staff: true }, []],
  ["the same twice", ["staff", "staff"], ["viewer"]],
];

test.for(valueRows)("a role claim that is %s gives its roles", ([, groups, expected]) => {
  const claims = readClaims(provider, { ...raw, groups });
  expect(rolesNamedBy(provider, claims?.roleValues ?? [])).toEqual(expected);
});

test("a role claim can be nested, or have a URL as its name", () => {
  const deep = { ...raw, realm_access: { "a/b": ["staff"] }, "https://acme.test/roles": "builders" };
  expect(readClaims({ ...provider, roleClaim: "/realm_access/a~1b" }, deep)?.roleValues).toEqual(["staff"]);
  expect(readClaims({ ...provider, roleClaim: "/realm_access/none/deeper" }, deep)?.roleValues).toBeUndefined();
  expect(readClaims({ ...provider, roleClaim: "https://acme.test/roles" }, deep)?.roleValues).toContain("builders");
  expect(readClaims({ ...provider, roleClaim: "constructor" }, deep)?.roleValues).toBeUndefined();
});

test("a missing role claim is different from a claim without roles", () => {
  expect(readClaims(provider, raw)?.roleValues).toBeUndefined();
  expect(readClaims(provider, { ...raw, groups: null })?.roleValues).toBeUndefined();
  expect(readClaims(provider, { ...raw, groups: [] })?.roleValues).toEqual([]);
  expect(readClaims({ ...provider, roleClaim: undefined }, raw)?.roleValues).toEqual([]);
});

const emailRows: readonly (readonly [string, unknown, boolean, boolean])[] = [
  ["says that it is verified", true, true, true],
  ["says that it is not", false, false, false],
  ["says that it is verified, but as a text", "true", false, true],
  ["says that it is not, but as a text", "false", false, false],
  ["says so with a number", 0, false, false],
  ["does not mention it", undefined, false, true],
];

test.for(emailRows)(
  "the claims and the configuration decide whether an e-mail address counts if the issuer %s",
  ([, isVerified, counts, countsIfTrusted]) => {
    const claims = { ...raw, email: "a@acme.test", email_verified: isVerified };
    expect(readClaims(provider, claims)?.email !== undefined).toBe(counts);
    expect(readClaims({ ...provider, trustsEmail: true }, claims)?.email !== undefined).toBe(countsIfTrusted);
  },
);

const domainRows: readonly (readonly [string, boolean])[] = [
  ["a@acme.test", true],
  ["A.B+c'd@ACME.Test", true],
  ["a@xn--bcher-kva.example", true],
  ["a@bücher.example", false],
  ["a@sub.acme.test", false],
  ["a@notacme.test", false],
  ["a@acme.test.", false],
  ["a@acme.test\n", false],
  ["a @acme.test", false],
  ["a@b@acme.test", false],
  ["@acme.test", false],
  ["acme.test", false],
  ["a@", false],
  ["", false],
  ["a@acme.te\u017ft", false],
  [`${"a".repeat(65)}@acme.test`, false],
];

test.for(domainRows)("the e-mail domain of %j belongs to the provider: %s", ([email, expected]) => {
  expect(hasDomainOf(provider, email)).toBe(expected);
});

const nameRows: readonly (readonly [object, string])[] = [
  [{ name: "Ada Lovelace" }, "Ada Lovelace"],
  [{ name: "  ", preferred_username: "ada" }, "ada"],
  [{ email: "ada@acme.test", email_verified: true }, "ada"],
  [{ name: "A\0d\na" }, "A d a"],
  [{ name: { first: "Ada" } }, "Somebody"],
];

test.for(nameRows)("the name in %j is %s", ([claims, expected]) => {
  expect(readClaims(provider, { ...raw, ...claims })?.name).toBe(expected);
});

test("a name is cut off after 200 characters", () => {
  expect(readClaims(provider, { ...raw, name: "a".repeat(500) })?.name).toBe("a".repeat(200));
});

const roleRows: readonly (readonly [string, readonly string[], readonly string[], readonly string[], object])[] = [
  ["a new user gets the given roles", [], [], ["viewer"], { roles: ["viewer"], providerRoles: ["viewer"] }],
  ["a role that is no longer given goes", ["viewer"], ["viewer"], [], { roles: [], providerRoles: [] }],
  ["a role from another source stays", ["ci", "viewer"], ["viewer"], [], { roles: ["ci"], providerRoles: [] }],
  [
    "a given role that the user also has from another source stays a role of that source",
    ["ci"],
    [],
    ["ci"],
    { roles: ["ci"], providerRoles: [] },
  ],
  [
    "a given role that was removed here comes back",
    [],
    ["viewer"],
    ["viewer"],
    { roles: ["viewer"], providerRoles: ["viewer"] },
  ],
  ["one role replaces another", ["viewer"], ["viewer"], ["ci"], { roles: ["ci"], providerRoles: ["ci"] }],
];

test.for(roleRows)("%s", ([, roles, providerRoles, given, expected]) => {
  expect(rolesAfter({ roles, providerRoles }, given)).toEqual(expected);
});
