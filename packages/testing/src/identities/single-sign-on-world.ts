import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { ProviderEntry } from "../../../server/src/auth/external/provider-entry.ts";
import { insertOrganization } from "../../../server/src/store/access/organizations.ts";
import { Browser, type ShownPage } from "../browser.ts";
import { findFreePort } from "../free-port.ts";
import { type TestMember, TestService } from "../service.ts";
import { beginSignIn, discover, isArrival, signIn, type Tokens } from "../sign-in.ts";
import type { StoreHome } from "../stores.ts";
import { ExternalProviderProcess } from "./external-provider.ts";

const secret = "the secret of our client at Acme";

/**
 * A service with two providers, each with an organization of its own. Acme uses RS256 and a secret, and puts the e-mail address and the groups into
 * the id token. Globex uses ES256 and a public client, and returns the address and the groups only from its userinfo endpoint.
 */
export class SingleSignOnWorld {
  readonly #home: StoreHome;
  #service: TestService | undefined;
  #acme: ExternalProviderProcess | undefined;
  #globex: ExternalProviderProcess | undefined;
  #directory = "";
  #people = 0;
  readonly acmeOrganizationId = "0198c0de-0000-7000-8000-00000000ac3e";
  readonly globexOrganizationId = "0198c0de-0000-7000-8000-0000000910be";

  constructor(home: StoreHome) {
    this.#home = home;
  }

  async start(): Promise<void> {
    const port = await findFreePort();
    const redirectUri = (id: string) => `http://localhost:${port}/oidc/callback/${id}`;
    [this.#acme, this.#globex] = await Promise.all([
      ExternalProviderProcess.start({
        clients: [{ clientId: "stepwell-at-acme", clientSecret: secret, redirectUris: [redirectUri("acme")] }],
        algorithm: "RS256",
        claimsInUserInfo: false,
      }),
      ExternalProviderProcess.start({
        clients: [{ clientId: "stepwell-at-globex", redirectUris: [redirectUri("globex")] }],
        algorithm: "ES256",
        claimsInUserInfo: true,
      }),
    ]);
    this.#directory = await mkdtemp(join(tmpdir(), "stepwell-providers-"));
    const file = join(this.#directory, "providers.json");
    await writeFile(join(this.#directory, "acme.secret"), `${secret}\n`);
    await writeFile(file, JSON.stringify(this.#entries()));
    this.#service = new TestService(this.#home, {
      STEPWELL_PORT: String(port),
      STEPWELL_SIGN_IN_PROVIDERS_FILE: file,
      STEPWELL_LOG_LEVEL: "silent",
    });
    await this.service.start();
    const { database, engine } = this.service.running;
    for (const organizationId of [this.acmeOrganizationId, this.globexOrganizationId]) {
      const organization = {
        organizationId,
        name: organizationId,
        displayName: "An organization",
        createdAt: engine.now(),
      };
      await database.transaction((transaction) => insertOrganization(transaction, organization));
    }
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    await Promise.all([this.#acme?.stop(), this.#globex?.stop()]);
    await rm(this.#directory, { recursive: true, force: true });
  }

  get service(): TestService {
    return started(this.#service);
  }

  get acme(): ExternalProviderProcess {
    return started(this.#acme);
  }

  get globex(): ExternalProviderProcess {
    return started(this.#globex);
  }

  #entries(): ProviderEntry[] {
    return [
      {
        id: "acme",
        name: "Acme",
        issuer: this.acme.issuer,
        clientId: "stepwell-at-acme",
        clientSecretFile: "acme.secret",
        emailDomains: ["acme.test", "Acme.Example"],
        organizationId: this.acmeOrganizationId,
        roleClaim: "groups",
        roles: { staff: ["viewer"], builders: ["developer", "releaser"], bosses: ["owner"] },
        bearer: { audience: "https://stepwell.acme.test" },
      },
      {
        id: "globex",
        name: "Globex",
        issuer: this.globex.issuer,
        clientId: "stepwell-at-globex",
        emailDomains: ["globex.test"],
        organizationId: this.globexOrganizationId,
        defaultRoles: ["viewer"],
      },
    ];
  }

  /** Makes a person at a provider, with a verified address in the provider's domain. */
  async newPersonAt(
    provider: "acme" | "globex",
    claims: Record<string, unknown> = {},
  ): Promise<{ readonly login: string; readonly email: string }> {
    this.#people += 1;
    const login = `subject-${this.#people}`;
    const email = `${login}@${provider}.test`;
    const usual = { email, email_verified: true, name: `Person ${this.#people}`, groups: ["staff"] };
    await this[provider].setAccount(login, { ...usual, ...claims });
    return { login, email };
  }

  /** Opens the service's sign-in page in a browser. */
  async begin(browser = new Browser(), parameters: Record<string, string> = {}) {
    const { baseUrl } = this.service;
    const begun = await beginSignIn(await discover(baseUrl), baseUrl, parameters);
    return { browser, begun, page: await browser.open(begun.url) };
  }

  async signInWithPassword(person: { readonly email: string }): Promise<Tokens> {
    return (await signIn(this.service.baseUrl, person)).tokens;
  }

  async newOwner(): Promise<TestMember> {
    const user = await this.service.newUser();
    await this.service.addMember(this.acmeOrganizationId, user.userId, ["owner"]);
    return { ...user, api: user.client.bind({ organizationId: this.acmeOrganizationId }) };
  }

  /** Goes from the service's page to the provider's page, as a click does. */
  async leaveFor(browser: Browser, page: ShownPage, id: string): Promise<ShownPage> {
    return await browser.open(linkTo(page, id));
  }

  /** Goes through all pages of the service and of the provider. Returns the last page, with the tokens if somebody is signed in then. */
  async signIn(
    id: "acme" | "globex",
    login: string,
    parameters: Record<string, string> = {},
  ): Promise<{ readonly browser: Browser; readonly page: ShownPage; readonly tokens?: Tokens }> {
    const { browser, begun, page } = await this.begin(new Browser(), parameters);
    const there = await this.leaveFor(browser, page, id);
    const end = await browser.submit(there, { login }, isArrival);
    if (!isArrival(end.url)) return { browser, page: end };
    return { browser, page: end, tokens: await begun.finish(end.url) };
  }
}

export function linkTo({ text, url }: ShownPage, id: string): URL {
  const path = new RegExp(`href="([^"]*/with/${id}[^"]*)"`).exec(text)?.[1];
  if (path === undefined) throw new Error(`No link leads to ${id}: ${text}`);
  return new URL(path.replaceAll("&amp;", "&"), url);
}

export function useSingleSignOn(home: StoreHome): SingleSignOnWorld {
  const world = new SingleSignOnWorld(home);
  beforeAll(() => world.start(), 60_000);
  afterAll(() => world.stop(), 60_000);
  return world;
}

function started<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error("It is not started.");
  return part;
}
