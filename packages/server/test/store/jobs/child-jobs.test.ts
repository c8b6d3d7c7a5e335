import { randomUUID } from "node:crypto";
import { useDatabase } from "@stepwell/testing/database.ts";
import { said } from "@stepwell/testing/notes.ts";
import { onEveryStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { insertChildren } from "../../../src/store/jobs/child-jobs.ts";

onEveryStore((home) => {
  const opened = useDatabase(home);

  test("the counts of several roots are written in the order of the roots, so that two nodes never wait for each other", async () => {
    const organizationId = randomUUID();
    const insert = "INSERT INTO organization VALUES ($1, $1::uuid::text, 'test', now(), now(), NULL)";
    await opened.database.query(said(insert), [organizationId]);
    const roots = Array.from({ length: 5 }, () => randomUUID()).sort();
    const children = roots.toReversed().map((rootJobId) => {
      const parent = { jobId: rootJobId, rootJobId, depth: 1, step: "begin", visit: 1 };
      return { organizationId, jobId: randomUUID(), parent };
    });
    await opened.database.transaction((transaction) => insertChildren(transaction, children));
    const written = said<{ root: string }>(
      "SELECT root_job_id AS root FROM job_tree WHERE organization_id = $1 ORDER BY ctid",
    );
    expect((await opened.database.query(written, [organizationId])).map(({ root }) => root)).toEqual(roots);
  });
});
