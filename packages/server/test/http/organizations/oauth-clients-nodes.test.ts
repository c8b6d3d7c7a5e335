import { Browser } from "@stepwell/testing/browser.ts";
import { Client } from "@stepwell/testing/client.ts";
import { newPerson } from "@stepwell/testing/people.ts";
import { Splitter } from "@stepwell/testing/proxies/splitter.ts";
import { beginSignIn, discover, isArrival, typePassword } from "@stepwell/testing/sign-in.ts";
import { secondWithSlackMs } from "@stepwell/testing/soon.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useCluster } from "../../engine/node/cluster.ts";

const splitter = await Splitter.listen();
const cluster = useCluster(2, { STEPWELL_BASE_URL: splitter.url });
beforeAll(() => splitter.between([cluster.node(0).port, cluster.node(1).port]));
afterAll(() => splitter.stop());

test("a client that is deleted on one node has no tokens and no origin on the other within a second", async () => {
  const [here, there] = [0, 1].map((index) => `http://localhost:${cluster.node(index as 0 | 1).port}`);
  const { owner, organizationId } = await cluster.node(0).newOrganization();
  const person = await newPerson(cluster.node(0));
  await cluster.node(0).addMember(organizationId, person.userId, ["viewer"]);
  const origin = "https://app.example.org";
  const redirect_uri = `${origin}/signed-in`;
  const ownerOn = (node = "") => new Client(node, owner.token, { organizationId });
  const body = { name: "Order desk", redirectUris: [redirect_uri] };
  const { clientId } = (await ownerOn(here).call<{ clientId: string }>("CreateOAuthClient", { body })).body;

  const begun = await beginSignIn(await discover(splitter.url, clientId), splitter.url, { redirect_uri });
  const browser = new Browser();
  const asked = await typePassword(browser, await browser.open(begun.url, isArrival), person);
  const { url } = await browser.submit(asked, { agree: "yes" }, isArrival);
  const tokens = await begun.finish(url);

  const member = new Client(there ?? "", tokens.id_token, { organizationId });
  const statusThere = async () => (await member.callAny("ListJobs", {})).status;
  const allowedThere = async () => {
    const headers = { origin, "access-control-request-method": "GET" };
    const answer = await fetch(`${there}/organizations`, { method: "OPTIONS", headers });
    return answer.headers.get("access-control-allow-origin");
  };
  expect([await statusThere(), await allowedThere()]).toEqual([200, origin]);

  await ownerOn(here).call("DeleteOAuthClient", { params: { clientId } });
  const fields = { grant_type: "refresh_token", client_id: clientId, refresh_token: tokens.refresh_token ?? "" };
  const refreshed = await fetch(`${there}/oidc/token`, { method: "POST", body: new URLSearchParams(fields) });
  expect(await refreshed.json()).toMatchObject({ error: "invalid_client" });
  const soon = { timeout: secondWithSlackMs, interval: 50 };
  await expect.poll(statusThere, soon).toBe(401);
  await expect.poll(allowedThere, soon).toBeNull();
});
