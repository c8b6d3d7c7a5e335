import { auditSealingDuty } from "../../server/src/engine/maintenance/audit-sealing.ts";
import type { Database } from "../../server/src/store/home/database.ts";
import { said } from "./notes.ts";
import { type TestService, testSecrets } from "./service.ts";

/** A row of the audit trail as it is stored. */
export interface AuditRow {
  readonly organization_id: string;
  readonly entry_id: string;
  readonly action: string;
  readonly outcome: string;
  readonly actor: { readonly type: string; readonly id: string; readonly name: string };
  readonly actor_id: string;
  readonly target_type: string;
  readonly target_id: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Reads the audit entries of one request, in any organization. */
export async function rowsOfRequest({ headers }: { readonly headers: Headers }, service: TestService) {
  const requestId = headers.get("x-request-id");
  return await ask<AuditRow>(service.running.database, "SELECT * FROM audit_entry WHERE request_id = $1", requestId);
}

export async function rowsOfAction(service: TestService, organizationId: string, action: string): Promise<AuditRow[]> {
  const text = "SELECT * FROM audit_entry WHERE organization_id = $1 AND action = $2 ORDER BY entry_id";
  return await ask<AuditRow>(service.running.database, text, organizationId, action);
}

/** Runs any SQL text, which need not be one of the service's statements. */
export async function ask<Row = unknown>(
  database: Database,
  text: string,
  ...values: readonly unknown[]
): Promise<Row[]> {
  return (await database.query(said(text), values)) as Row[];
}

/** The sealing duty of the service, for tests that run it themselves instead of waiting for the service. */
export function sealingDuty({ running }: TestService) {
  const { database, engine } = running;
  return auditSealingDuty({ database, now: () => engine.now(), key: testSecrets().keyFor("audit") });
}

/** Repeats the duty until nothing is left to seal. A round does nothing while the service's own duty is sealing. */
export async function sealAll(service: TestService, organizationId: string): Promise<void> {
  const waiting = `SELECT 1 FROM audit_unsealed JOIN audit_entry USING (organization_id, entry_id)
     LEFT JOIN audit_sealed USING (organization_id, entry_id)
     WHERE organization_id = $1 AND audit_sealed.entry_id IS NULL LIMIT 1`;
  const duty = sealingDuty(service);
  do await duty.runOnce();
  while ((await ask(service.running.database, waiting, organizationId)).length > 0);
}
