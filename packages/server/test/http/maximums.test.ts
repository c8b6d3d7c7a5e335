import type { Client } from "@stepwell/testing/client.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { type MaximumChanges, updateOrganizationLimits } from "../../src/management/organizations/organization-limits.ts";

const operator = {
  actor: { type: "service", id: "the operator" },
  operation: "UpdateOrganizationLimits",
  requestId: "",
  address: "",
} as const;

onOneStore((home) => {
  const service = useService(home, {
    STEPWELL_MAX_API_TOKENS: "3",
    STEPWELL_MAX_ROLES: "2",
    STEPWELL_MAX_OPEN_INVITATIONS: "2",
  });

  function setMaximums(organizationId: string, maximums: MaximumChanges) {
    return updateOrganizationLimits(service.running.database, operator, organizationId, { maximums });
  }

  /** Asks for all of them at once, and answers how many were made and what the others were told. */
  async function race(api: Client, operation: string, bodies: readonly object[]) {
    const answers = await Promise.all(bodies.map((body) => api.callAny<{ detail: string }>(operation, { body })));
    const refused = answers.filter(({ status }) => status === 409);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length + refused.length).toBe(bodies.length);
    return { madeCount: made.length, details: [...new Set(refused.map(({ body }) => body.detail))] };
  }

  const tokens = Array.from({ length: 8 }, (_, index) => ({ name: `t${index}`, permissions: ["job:read"] }));

  test("of many requests at once for the last places of a maximum, exactly as many win as there are places", async () => {
    const { api } = await service.newOrganization();
    await api.call("CreateApiToken", { body: tokens[0] });
    const raced = await race(api, "CreateApiToken", tokens);
    expect(raced.madeCount).toBe(2);
    expect(raced.details).toEqual([
      "An organization has at most 3 API tokens here. Revoke tokens that are not needed any more. The operator of the service can raise the maximum: `stepwell organization limits ID --max apiTokens=NUMBER` for this organization, or STEPWELL_MAX_API_TOKENS for all.",
    ]);
    const { body } = await api.call<{ apiTokens: unknown[] }>("ListApiTokens");
    expect(body.apiTokens).toHaveLength(3);
  });

  test("a place is free again when its token is revoked, and one organization's tokens take none of another's places", async () => {
    const [{ api }, other] = [await service.newOrganization(), await service.newOrganization()];
    const made = await Promise.all(
      tokens.slice(0, 3).map((body) => api.call<{ tokenId: string }>("CreateApiToken", { body })),
    );
    await api.refused("CreateApiToken", "ConflictError", { body: tokens[0] });
    await other.api.call("CreateApiToken", { body: tokens[0] });
    await api.call("RevokeApiToken", { params: { tokenId: made[0]?.body.tokenId ?? "" } });
    await api.call("CreateApiToken", { body: tokens[0] });
    await api.refused("CreateApiToken", "ConflictError", { body: tokens[0] });
  });

  test("an answer tells what is left of the maximum under which something was made", async () => {
    const { api } = await service.newOrganization();
    const { headers } = await api.call("CreateApiToken", { body: tokens[0] });
    expect(headers.get("ratelimit-policy")).toMatch(/, "apiTokens";q=3$/);
    expect(headers.get("ratelimit")).toMatch(/, "apiTokens";r=2$/);
  });

  test("the operator gives one organization a maximum of its own, which holds from the next request on, and takes it back", async () => {
    const { api, organizationId } = await service.newOrganization();
    await setMaximums(organizationId, { apiTokens: 1 });
    expect(await race(api, "CreateApiToken", tokens)).toMatchObject({
      madeCount: 1,
      details: [expect.stringMatching(/at most 1 API tokens/)],
    });
    await setMaximums(organizationId, { apiTokens: null });
    expect(await race(api, "CreateApiToken", tokens)).toMatchObject({ madeCount: 2 });
    const { body } = await api.call<{ entries: { details: object }[] }>("ListAudit", {
      query: { action: "UpdateOrganizationLimits" },
    });
    expect(body.entries.map(({ details }) => details)).toEqual([
      { apiTokens: { from: 1, to: null } },
      { apiTokens: { from: null, to: 1 } },
    ]);
  });

  test("roles and open invitations have their maximums too", async () => {
    const { api } = await service.newOrganization();
    const roles = ["a", "b", "c", "d"].map((name) => ({ name, permissions: ["job:read"] }));
    expect(await race(api, "CreateRole", roles)).toMatchObject({
      madeCount: 2,
      details: [expect.stringContaining("at most 2 roles of its own")],
    });
    const invitations = [1, 2, 3, 4].map(() => ({ roles: ["viewer"] }));
    expect(await race(api, "CreateInvitation", invitations)).toMatchObject({
      madeCount: 2,
      details: [expect.stringContaining("at most 2 open invitations")],
    });
  });
});
