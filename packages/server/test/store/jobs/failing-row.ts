import { said } from "@stepwell/testing/notes.ts";
import type { Queryable } from "../../../src/store/home/database.ts";

/**
 * Makes the database fail with this error whenever the job's row or one of its calls is updated, or its history gets new rows: `change` names one of
 * the three. Returns the function that stops this.
 */
export async function failRow(
  target: Queryable,
  { jobId }: { readonly jobId: string },
  sqlState: string,
  change: "UPDATE ON job" | "UPDATE ON job_call" | "INSERT ON job_history" = "UPDATE ON job",
): Promise<() => Promise<void>> {
  const name = `fail_${jobId.replaceAll("-", "")}`;
  const body = `BEGIN RAISE EXCEPTION 'this row fails' USING ERRCODE = '${sqlState}'; END`;
  await target.query(said(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`), []);
  const when = `BEFORE ${change} FOR EACH ROW WHEN (NEW.job_id = '${jobId}')`;
  await target.query(said(`CREATE TRIGGER ${name} ${when} EXECUTE FUNCTION ${name}()`), []);
  return async () => void (await target.query(said(`DROP TRIGGER ${name} ON ${change.split(" ").at(-1)}`), []));
}
