import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import type { ProviderEntry } from "../../../server/src/auth/external/provider-entry.ts";
import { insertOrganization } from "../../../server/src/store/access/organizations.ts";
import type { TestMember, TestService } from "../service.ts";

/** Writes a file of providers for a service that is started afterwards. Returns the file's path. */
export function writeProviderFile(entries: readonly ProviderEntry[]): string {
  const file = join(inject("scratchDirectory"), `providers-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(entries));
  return file;
}

/** Makes an organization with this id, which a file of providers can name. Returns the owner of the organization. */
export async function newOrganizationOfId(service: TestService, organizationId: string): Promise<TestMember> {
  const { database, engine } = service.running;
  const organization = { organizationId, name: organizationId, displayName: "Acme", createdAt: engine.now() };
  await database.transaction((transaction) => insertOrganization(transaction, organization));
  const owner = await service.newUser();
  await service.addMember(organizationId, owner.userId, ["owner"]);
  return { ...owner, api: owner.client.bind({ organizationId }) };
}
