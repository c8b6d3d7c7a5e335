import type { BrowserContext, Page } from "playwright-core";
import type { Camera } from "./camera.ts";
import { password, signInAddress } from "./people.ts";
import { operatorEmail, ownerEmail, type Story } from "./story.ts";

/** Takes pictures of the service's own pages, which need no JavaScript. Some need a sign-in as the operator, with this recovery code. */
export async function takeSignInPages(
  camera: Camera,
  context: BrowserContext,
  { baseUrl, story }: { readonly baseUrl: string; readonly story: Story },
  look: string,
  recoveryCode: string,
): Promise<void> {
  const page = await context.newPage();
  const take = async (name: string, heading: string) => {
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    await camera.take(page, `${name}.${look}`);
  };
  await page.goto(signInAddress(baseUrl));
  await take("sign-in", "Sign in");
  await typePassword(page, ownerEmail, "five green bicycles");
  await page.getByRole("alert").waitFor();
  await take("sign-in-wrong", "Sign in");

  const { verification_uri_complete: deviceAddress } = await beginDevice(baseUrl);
  await page.goto(deviceAddress);
  await take("device-code", "Authorize device");
  await press(page, "Continue");
  await take("device-confirm", "Authorize this device?");
  await press(page, "Authorize device");
  await take("sign-in-device", "Sign in");
  await typePassword(page, operatorEmail, password);
  await take("sign-in-second-factor", "Second factor");
  await page.getByLabel("Code").fill(recoveryCode);
  await press(page, "Continue");
  await take("device-done", "The device is signed in");

  await page.goto(`${baseUrl}/oidc/session/end`);
  await take("sign-out", "Sign out?");
  await press(page, "Sign out");
  await take("signed-out", "You are signed out");

  await page.goto(story.invitationLink);
  await take("invitation", "Join acme");
  await page.goto(`${story.invitationLink.slice(0, -4)}0000`);
  await take("invitation-dead", "This invitation does not work");
  await page.goto(story.passwordLink);
  await take("set-password", "Choose a password");
  await page.goto(`${baseUrl}/set-password?link=unknown`);
  await take("set-password-dead", "This link does not work");
  await page.goto(signInAddress(baseUrl, "somebody-else"));
  await take("problem", "This did not work");
  await page.close();
}

async function typePassword(page: Page, email: string, typed: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(typed);
  await press(page, "Sign in");
}

async function press(page: Page, button: string): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).click();
}

/** Begins a sign-in as the command line does. */
async function beginDevice(baseUrl: string): Promise<{ verification_uri_complete: string }> {
  const body = new URLSearchParams({ client_id: "stepwell-cli", scope: "openid profile email offline_access" });
  const headers = { "user-agent": "stepwell/0.1.0 (linux; acme-laptop)" };
  const response = await fetch(`${baseUrl}/oidc/device/auth`, { method: "POST", body, headers });
  return (await response.json()) as { verification_uri_complete: string };
}
