import { said } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { writtenColumns } from "../../../src/store/jobs/job-columns.ts";

onOneStore((home) => {
  const service = useService(home);

  test("every column of the table of jobs is written", async () => {
    const columns = said<{ column_name: string }>(
      "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'job'",
    );
    const rows = await service.running.database.query(columns, []);
    expect(rows.map(({ column_name }) => column_name).sort()).toEqual(Object.keys(writtenColumns).sort());
  });
});
