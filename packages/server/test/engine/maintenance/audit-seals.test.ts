import { randomUUID } from "node:crypto";
import { ask, sealAll, sealingDuty } from "@stepwell/testing/audit-rows.ts";
import { type TestService, testSecrets, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { describe, expect, test } from "vitest";
import type { SealLink } from "../../../src/core/audit-chain.ts";
import { expectSeal, verifyAudit } from "../../../src/engine/audit/audit-verification.ts";
import { type AuditEntry, insertAuditEntries } from "../../../src/store/audit/audit.ts";
import { useCluster } from "../node/cluster.ts";

const key = testSecrets().keyFor("audit");

onOneStore((home) => {
  const service = useService(home);

  async function verified(organizationId: string, expected?: SealLink) {
    const trail = { database: service.running.database, keys: [key], organizationId };
    const found = await verifyAudit(trail);
    return expected === undefined ? found : await expectSeal(trail, found, expected);
  }

  /** Makes an organization, and writes these numbers of entries to its trail. After each number, all entries are sealed. */
  async function sealedTrail(...counts: readonly number[]): Promise<{ organizationId: string; entryIds: string[] }> {
    const { organizationId } = await service.newOrganization();
    const entryIds: string[] = [];
    for (const count of counts) {
      entryIds.push(...(await write(service, organizationId, count)));
      await sealAll(service, organizationId);
    }
    return { organizationId, entryIds };
  }

  test("every entry is sealed, and an unchanged trail is intact", async () => {
    const { organizationId } = await sealedTrail(3, 2_500);
    await write(service, organizationId, 2);
    const { newestSeal, checkedSeals, ...found } = await verified(organizationId);
    // CreateOrganization is also an entry. The service's own duty may have sealed it, or the last two entries, at any moment.
    expect(found.checkedEntries + found.unsealedEntries).toBe(2_506);
    expect(found).toMatchObject({ isIntact: true, findings: [] });
    expect(checkedSeals).toBeGreaterThanOrEqual(4);
    expect(newestSeal).toEqual({ number: checkedSeals, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test("no seal covers more than a thousand entries", async () => {
    const { organizationId } = await sealedTrail(2_100);
    const { database } = service.running;
    const seals = await ask<{ entry_count: number }>(
      database,
      "SELECT entry_count FROM audit_seal WHERE organization_id = $1 ORDER BY seal_number",
      organizationId,
    );
    expect(Math.max(...seals.map((seal) => seal.entry_count))).toBeLessThanOrEqual(1_000);
  });

  describe("a row with a changed column is reported", () => {
    test.each([
      ["recorded_at", "recorded_at + interval '1 microsecond'"],
      ["actor", `replace(actor::text, 'tester', 'nobody')::json`],
      ["actor_id", "gen_random_uuid()"],
      ["action", "'Nothing'"],
      ["outcome", "'denied'"],
      ["target_type", "'tag'"],
      ["target_id", "NULL"],
      ["request_id", "request_id || ' '"],
      ["address", "'127.0.0.1'"],
      ["details", `'{"number": 1}'`],
    ])("%s", async (column, value) => {
      const { organizationId, entryIds } = await sealedTrail(5, 5);
      const entryId = entryIds[3];
      const { database } = service.running;
      await ask(database, `UPDATE audit_entry SET ${column} = ${value} WHERE entry_id = $1`, entryId);
      expect(await verified(organizationId)).toMatchObject({
        isIntact: false,
        findings: [{ kind: "entry-changed", entryId }],
      });
    });
  });

  test("a removed row is reported, whether it was sealed or waited for its seal", async () => {
    const { organizationId, entryIds } = await sealedTrail(5);
    const { database } = service.running;
    await ask(database, "DELETE FROM audit_entry WHERE entry_id = $1", entryIds[2]);
    const lost = randomUUID();
    await ask(database, "INSERT INTO audit_unsealed VALUES ($1, $2)", organizationId, lost);
    expect((await verified(organizationId)).findings).toEqual([
      { kind: "entry-missing", entryId: entryIds[2], sealNumber: expect.any(Number) },
      { kind: "entry-missing", entryId: lost, sealNumber: null },
    ]);
    // The other entries are sealed anyway.
    await write(service, organizationId, 1);
    await sealAll(service, organizationId);
    expect((await verified(organizationId)).unsealedEntries).toBe(0);
  });

  test("an inserted row is reported, also if it is listed as sealed", async () => {
    const { organizationId, entryIds } = await sealedTrail(5);
    const { database } = service.running;
    const copy = `INSERT INTO audit_entry
       SELECT organization_id, $2::uuid, recorded_at, actor, actor_id, action, outcome, target_type, target_id, request_id, address, details
       FROM audit_entry WHERE entry_id = $1`;
    const [inserted, listed] = [randomUUID(), randomUUID()];
    await ask(database, copy, entryIds[0], inserted);
    expect((await verified(organizationId)).findings).toEqual([{ kind: "entry-inserted", entryId: inserted }]);
    await ask(database, "DELETE FROM audit_entry WHERE entry_id = $1", inserted);

    await ask(database, copy, entryIds[0], listed);
    const list = `INSERT INTO audit_sealed
       SELECT organization_id, $2::uuid, seal_number, entry_hash FROM audit_sealed WHERE entry_id = $1`;
    await ask(database, list, entryIds[0], listed);
    const kinds = (await verified(organizationId)).findings.map(({ kind }) => kind);
    expect(kinds).toEqual(["seal-changed", "entry-changed"]);
  });

  test("two swapped rows are both reported", async () => {
    const { organizationId, entryIds } = await sealedTrail(5);
    const { database } = service.running;
    const [one = "", other = ""] = entryIds;
    const spare = randomUUID();
    for (const [from, to] of [
      [one, spare],
      [other, one],
      [spare, other],
    ]) {
      await ask(database, "UPDATE audit_entry SET entry_id = $2::uuid WHERE entry_id = $1", from, to);
    }
    const { findings } = await verified(organizationId);
    expect(findings.map((finding) => "entryId" in finding && finding.entryId).sort()).toEqual([one, other].sort());
  });

  test("a row that was moved to another organization is reported as missing in the first and inserted in the second", async () => {
    const { organizationId, entryIds } = await sealedTrail(5);
    const other = await service.newOrganization();
    const entryId = entryIds[1];
    const move = "UPDATE audit_entry SET organization_id = $2::uuid WHERE entry_id = $1";
    await ask(service.running.database, move, entryId, other.organizationId);
    expect((await verified(organizationId)).findings).toMatchObject([{ kind: "entry-missing", entryId }]);
    expect((await verified(other.organizationId)).findings).toEqual([{ kind: "entry-inserted", entryId }]);
  });

  describe("a changed seal is reported", () => {
    test.each([
      ["its time", "UPDATE audit_seal SET sealed_at = sealed_at + interval '1 microsecond'", ["seal-changed"]],
      ["its count", "UPDATE audit_seal SET entry_count = entry_count - 1", ["seal-changed"]],
      ["its hash", "UPDATE audit_seal SET hash = previous_hash", ["seal-changed", "seal-unlinked"]],
      ["its predecessor", "UPDATE audit_seal SET previous_hash = hash", ["seal-unlinked", "seal-changed"]],
      ["the hash of an entry", "UPDATE audit_sealed SET entry_hash = '\\x00'", ["seal-changed", "entry-changed"]],
      ["its existence", "DELETE FROM audit_seal", ["seal-missing"]],
    ])("%s", async (_what, change, expected) => {
      const { organizationId } = await sealedTrail(1, 1, 1);
      const { database } = service.running;
      const second = await ask<{ number: number }>(
        database,
        "SELECT max(seal_number) - 1 AS number FROM audit_seal WHERE organization_id = $1",
        organizationId,
      );
      const sealNumber = second[0]?.number;
      await ask(database, `${change} WHERE organization_id = $1 AND seal_number = $2`, organizationId, sealNumber);
      const { findings, isIntact } = await verified(organizationId);
      expect(isIntact).toBe(false);
      expect(findings.map(({ kind }) => kind)).toEqual(expected);
      expect(findings[0]).toMatchObject({ sealNumber });
    });
  });

  test("a chain whose end was cut off is detected by its entries, or by a seal that was seen before", async () => {
    const { organizationId } = await sealedTrail(3, 3);
    const { database } = service.running;
    const { newestSeal } = await verified(organizationId);
    if (newestSeal === null) throw new Error("There is no seal.");
    expect(await verified(organizationId, newestSeal)).toMatchObject({ isIntact: true });

    const ofNewest = "WHERE organization_id = $1 AND seal_number = $2";
    await ask(database, `DELETE FROM audit_seal ${ofNewest}`, organizationId, newestSeal.number);
    expect((await verified(organizationId)).findings).toEqual([
      { kind: "seal-missing", sealNumber: newestSeal.number },
    ]);

    // The entries of the deleted seal are now deleted too. Only somebody who has noted this seal before can detect that.
    const entriesOf = `DELETE FROM audit_entry WHERE organization_id = $1
       AND entry_id IN (SELECT entry_id FROM audit_sealed ${ofNewest})`;
    await ask(database, entriesOf, organizationId, newestSeal.number);
    await ask(database, `DELETE FROM audit_sealed ${ofNewest}`, organizationId, newestSeal.number);
    expect(await verified(organizationId)).toMatchObject({ isIntact: true });
    expect(await verified(organizationId, newestSeal)).toMatchObject({
      isIntact: false,
      findings: [{ kind: "seal-unexpected", sealNumber: newestSeal.number }],
    });
  });

  test("a sealed entry is not sealed again, even if somebody lists it as unsealed", async () => {
    const { organizationId, entryIds } = await sealedTrail(3);
    const entryId = entryIds[0];
    await ask(service.running.database, "INSERT INTO audit_unsealed VALUES ($1, $2)", organizationId, entryId);
    await write(service, organizationId, 1);
    await sealAll(service, organizationId);
    expect((await verified(organizationId)).findings).toMatchObject([{ kind: "entry-listed-twice", entryId }]);
  });

  test("an attacker with the database but without the secret key cannot seal a changed row", async () => {
    const { organizationId } = await sealedTrail(3);
    const stolen = await verifyAudit({
      database: service.running.database,
      keys: [Buffer.alloc(32, 1)],
      organizationId,
    });
    expect(stolen.isIntact).toBe(false);
  });

  test("at most a hundred findings are reported", async () => {
    const { organizationId } = await sealedTrail(300);
    await ask(
      service.running.database,
      "UPDATE audit_entry SET address = 'x' WHERE organization_id = $1",
      organizationId,
    );
    const { findings, checkedEntries } = await verified(organizationId);
    expect(findings).toHaveLength(100);
    expect(checkedEntries).toBe(301);
  });
});

describe("with two nodes", () => {
  const cluster = useCluster(2);

  test("both can seal at the same time: each entry is sealed once, and the chain has no gap", async () => {
    const { organizationId } = await cluster.node(0).newOrganization();
    const duties = [0, 1, 0, 1].map((index) => sealingDuty(cluster.node(index)));
    for (let round = 0; round < 10; round += 1) {
      await write(cluster.node(round % 2), organizationId, 150);
      await Promise.all([
        ...duties.map((duty) => duty.runOnce()),
        write(cluster.node(0), organizationId, 20),
        write(cluster.node(1), organizationId, 20),
      ]);
    }
    await sealAll(cluster.node(0), organizationId);
    const { database } = cluster.node(0).running;
    const found = await verifyAudit({ database, keys: [key], organizationId });
    expect(found).toMatchObject({ isIntact: true, findings: [], checkedEntries: 1_901, unsealedEntries: 0 });
  });
});

async function write({ running }: TestService, organizationId: string, count: number): Promise<string[]> {
  const { engine, database } = running;
  const entries = Array.from({ length: count }, (_, number): AuditEntry => {
    const entryId = engine.newId();
    const actor = { type: "user", id: randomUUID(), name: "tester" } as const;
    const request = { requestId: randomUUID(), address: "::1" };
    const target = { targetType: "job", targetId: randomUUID() };
    const what = { action: "CancelJob", outcome: "accepted", ...target, details: { number } } as const;
    return { organizationId, entryId, recordedAt: engine.now(), actor, ...what, ...request };
  });
  await database.transaction((transaction) => insertAuditEntries(transaction, entries));
  return entries.map(({ entryId }) => entryId).sort();
}
