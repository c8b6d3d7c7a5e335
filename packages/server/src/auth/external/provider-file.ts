import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { didYouMean } from "../../core/closest-name.ts";
import { once } from "../../core/once.ts";
import { type Problem, pointerTo } from "../../core/problem.ts";
import type { ExternalProvider } from "./provider.ts";
import { findConflicts } from "./provider-conflicts.ts";
import { type ProviderEntry, ProviderEntrySchema } from "./provider-entry.ts";

/** Reads the file of external issuers. Throws one error that lists everything that is wrong with it. */
export function readProviderFile(path: string | undefined): readonly ExternalProvider[] {
  if (path === undefined) return [];
  const { providers, problems } = parseProviders(textOf(path), (secretFile) =>
    readFileSync(resolve(dirname(path), secretFile), "utf8"),
  );
  if (problems.length > 0) throw new ProviderFileError(path, problems);
  return providers;
}

export class ProviderFileError extends Error {
  readonly problems: readonly Problem[];

  constructor(path: string, problems: readonly Problem[]) {
    const lines = problems.map(({ pointer, detail }) => `  ${pointer === "" ? "" : `${pointer} `}${detail}`);
    const found = lines.length === 1 ? ` ${lines[0]?.trim()}` : `\n${lines.join("\n")}`;
    super(`STEPWELL_SIGN_IN_PROVIDERS_FILE (${path}) is not usable:${found}`);
    this.name = "ProviderFileError";
    this.problems = problems;
  }
}

export interface ParsedProviders {
  readonly providers: readonly ExternalProvider[];
  readonly problems: readonly Problem[];
}

/** `readSecret` reads a file that the text names. */
export function parseProviders(text: string, readSecret: (file: string) => string): ParsedProviders {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    // The parser's own message is left out: it quotes the text, which contains secrets.
    const [position] = /line \d+ column \d+|position \d+/.exec(String(error)) ?? [];
    const detail = `is not JSON${position === undefined ? "" : `, from ${position} on`}`;
    return { providers: [], problems: [{ pointer: "", detail }] };
  }
  if (!Array.isArray(document) || document.length > maxProviders) {
    return {
      providers: [],
      problems: [{ pointer: "", detail: `must be a list of at most ${maxProviders} providers` }],
    };
  }
  const isProviderEntry = entryValidator();
  const problems: Problem[] = [];
  const entries = new Map<number, ProviderEntry>();
  for (const [index, entry] of document.entries()) {
    if (isProviderEntry(entry)) entries.set(index, entry);
    else problems.push(...shapeProblems(index, isProviderEntry.errors ?? []));
  }
  problems.push(...findConflicts(entries));
  const providers = [...entries].map(([index, entry]) => {
    const pointer = `/${index}/clientSecretFile`;
    return providerOf(
      entry,
      secretOf(entry, (detail) => problems.push({ pointer, detail })),
    );
  });
  return { providers, problems };

  function secretOf(entry: ProviderEntry, complain: (detail: string) => void): string | undefined {
    if (entry.clientSecretFile === undefined) return entry.clientSecret;
    try {
      const secret = readSecret(entry.clientSecretFile).trim();
      if (secret === "") complain("names an empty file");
      return secret;
    } catch (error) {
      complain(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const detail = `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    throw new ProviderFileError(path, [{ pointer: "", detail }]);
  }
}

function providerOf(entry: ProviderEntry, clientSecret: string | undefined): ExternalProvider {
  const { id, name, issuer, clientId, emailDomains, organizationId, roleClaim, roles = {}, bearer } = entry;
  return {
    id,
    name,
    issuer,
    clientId,
    clientSecret,
    scopes: entry.scopes ?? ["openid", "email", "profile"],
    emailDomains: emailDomains.map((domain) => domain.toLowerCase()),
    trustsEmail: entry.trustsEmail ?? false,
    organizationId: organizationId.toLowerCase(),
    roleClaim,
    roles: new Map(Object.entries(roles)),
    defaultRoles: entry.defaultRoles ?? [],
    bearerAudience: bearer?.audience,
  };
}

/** The schema is compiled only if there is a file, since compiling takes a tenth of a second. */
const entryValidator = once(() => {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: true, strictTypes: false });
  ajv.addVocabulary(["x-rule"]);
  return ajv.compile<ProviderEntry>(ProviderEntrySchema);
});
const maxProviders = 1_000;

/** Several rules for one text have the same message, which is reported once. */
function shapeProblems(index: number, errors: readonly ErrorObject[]): Problem[] {
  const problems = errors.map(problemOf);
  const first = new Map(problems.map((problem) => [`${problem.pointer} ${problem.detail}`, problem]));
  return [...first.values()].map(({ pointer, detail }) => ({ pointer: `/${index}${pointer}`, detail }));
}

function problemOf({ keyword, params, parentSchema, instancePath, message }: ErrorObject): Problem {
  switch (keyword) {
    case "required":
      return { pointer: pointerTo(instancePath, params.missingProperty), detail: "is missing" };
    case "additionalProperties": {
      const name: string = params.additionalProperty;
      const known = Object.keys((parentSchema as { properties?: object }).properties ?? {});
      return { pointer: pointerTo(instancePath, name), detail: `is not known here${didYouMean(name, known)}` };
    }
    default: {
      const rule = (parentSchema as { readonly "x-rule"?: string })["x-rule"];
      return { pointer: instancePath, detail: rule ?? message ?? "is not valid" };
    }
  }
}
