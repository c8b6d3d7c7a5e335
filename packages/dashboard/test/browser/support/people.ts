import type { Client } from "@stepwell/testing/client.ts";
import { deploy, registerVersion, submitAndWait } from "@stepwell/testing/flow.ts";
import { newSignedInPerson, rightPassword, type SignedInPerson } from "@stepwell/testing/people.ts";
import type { TestService } from "@stepwell/testing/service.ts";
import type { Page } from "playwright-core";

export interface Owner extends SignedInPerson {
  readonly organizationId: string;
  /** Sends requests of the owner to the organization. */
  readonly api: Client;
  /** The address of the organization's pages. */
  readonly url: string;
}

/** Creates a person with a password and an organization. */
export async function newOwner(service: TestService, organizationName = "Acme"): Promise<Owner> {
  const person = await newSignedInPerson(service);
  const { body } = await person.client.call<{ organizationId: string }>("CreateOrganization", {
    body: { name: organizationName, displayName: organizationName },
  });
  const { organizationId } = body;
  const url = `${service.baseUrl}/app/organizations/${organizationId}`;
  return { ...person, organizationId, api: person.client.bind({ organizationId }), url };
}

/** Opens a page of an organization in a browser without a session, and signs in on the way. */
export async function signInAt(page: Page, url: string, person: Pick<SignedInPerson, "email">): Promise<void> {
  await sendSignIn(page, url, person);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
}

/** Opens a page and submits the sign-in form that appears instead. */
export async function sendSignIn(page: Page, url: string, { email }: Pick<SignedInPerson, "email">): Promise<void> {
  await page.goto(url);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(rightPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Goes from the service's sign-in page to the provider's page, where a login without a password is enough, and back. */
export async function continueWithAcme(page: Page, login: string): Promise<void> {
  await page.getByRole("link", { name: "Continue with Acme" }).click();
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=login]").press("Enter");
}

export { deploy, registerVersion, submitAndWait };
